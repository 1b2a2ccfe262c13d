// Change, review, save and retry. What was typed is never lost: not by a fault, and not by somebody else's change.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { FaultText } from '../../components/show/fault.tsx'
import { ActionBar, Notice, Section, Verdict } from '../../components/show/page.tsx'
import { copyText } from '../../components/toasts.tsx'
import { keepReason, lastReasons, printDraftHash } from '../../data/drafts.ts'
import { dropEdit, keepEdit } from '../../data/edit-drafts.ts'
import { faultOf } from '../../data/faults.ts'
import { changeMessage, type MessageDetail, retryMessage } from '../../data/queries/messages.ts'
import { useMissingRole } from '../../data/session.ts'
import { patchFromTexts, patchText, patchWords } from '../../domain/payload/patch-from-texts.ts'
import { isJson, jsonFault, layOut, onOneLine } from '../../domain/payload/value.ts'
import { CodeEditor } from './code-editor.tsx'
import styles from './edit.module.css'

type Props = {
  message: MessageDetail
  etag: string | null
  stored: string
  begin: string
  oneLine: boolean
  onTheirs: () => void
}

export function EditSteps({ message, etag, stored, begin, oneLine, onTheirs }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const refusal = useMissingRole('sys_operator')
  const [text, setText] = useState(begin)
  const [compact, setCompact] = useState(oneLine)
  const [reviewing, setReviewing] = useState(false)
  const [reason, setReason] = useState('')
  const { id, status, retryable } = message
  const final = compact ? onOneLine(text) : text
  const changed = final !== stored
  const fault = isJson(stored) ? jsonFault(text) : null
  const lines = patchFromTexts(stored, final)
  const type = (next: string) => {
    setText(next)
    keepEdit(id, etag, next)
  }

  const save = useMutation({
    mutationFn: async (send: boolean) => {
      const given = reason.trim()
      const newTag = await changeMessage(
        id,
        { value: { text: final }, ...(given === '' ? {} : { reason: given }) },
        etag,
      )
      dropEdit(id)
      keepReason(given)
      if (!send) return null
      const forced = status === 'DEAD' || status === 'RESOLVED' || !retryable
      return retryMessage(id, { force: forced, reason: given || 'changed and sent again', etag: newTag })
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['message', id] }),
  })
  useBlocker({
    shouldBlockFn: () =>
      changed && !save.isSuccess && !window.confirm('Leave, and keep what you typed for an hour in this tab?'),
    enableBeforeUnload: () => changed && !save.isSuccess,
  })
  const next = () => {
    if (!changed || save.isPending) return
    if (reviewing) {
      if (refusal === null) save.mutate(true)
    } else setReviewing(true)
  }
  useKeys({ 'Mod+Enter': next })

  if (save.isSuccess) {
    const search = { kind: 'retry', ...(status === 'DEAD' ? { force: 'true' } : {}) }
    const canApply = message.group_id !== null && lines !== null && lines.length > 0
    return (
      <>
        <Verdict>
          {save.data === null
            ? 'Saved, and not sent.'
            : `Saved. ${save.data.status === 202 ? 'It is due and not settled yet: ' : ''}${save.data.message}.`.replace(
                /\.\.$/,
                '.',
              )}{' '}
          Whether it worked shows in what comes back.
        </Verdict>
        <ActionBar label="What next">
          <Link to="/messages/$id" params={{ id }} search={{}} className={buttonClass('primary')}>
            Watch the message
          </Link>
          {canApply ? (
            <Link
              to="/runs/new"
              search={{ ...search, group: message.group_id! }}
              hash={printDraftHash(patchText(lines), reason.trim())}
              className={buttonClass()}
            >
              Apply to the others of its group…
            </Link>
          ) : null}
        </ActionBar>
        {canApply ? (
          <ul className={styles.lines}>
            {lines.map((line) => (
              <li key={patchWords(line)}>
                <code>{patchWords(line)}</code>
              </li>
            ))}
          </ul>
        ) : null}
      </>
    )
  }
  const conflict = save.error !== null && faultOf(save.error).status === 412
  return (
    <>
      {/* The editor stays mounted: going back from the review finds everything as it was. */}
      <div hidden={reviewing}>
        <CodeEditor text={begin} label="Value" onChange={type} onSubmit={next} />
      </div>
      {reviewing ? (
        <Section title="What will be stored">
          <CodeEditor
            key={final}
            text={text}
            label="Difference to what is stored"
            original={oneLine ? layOut(stored) : stored}
          />
          {lines === null || lines.length === 0 ? null : (
            <ul className={styles.lines} aria-label="Changed fields">
              {lines.map((line) => (
                <li key={patchWords(line)}>
                  <code>{patchWords(line)}</code>
                </li>
              ))}
            </ul>
          )}
        </Section>
      ) : null}
      {fault === null ? null : (
        <p className={styles.fault} role="status">
          It was JSON, and this is none (line {text.slice(0, fault.offset).split('\n').length}). It can be saved all the
          same.
        </p>
      )}
      {save.error === null ? null : (
        <FaultText
          fault={faultOf(save.error)}
          what={
            conflict
              ? 'Somebody changed it since you opened it. What you typed is kept'
              : 'Not done. What you typed is kept'
          }
        />
      )}
      {conflict ? (
        <ActionBar label="What to do about it">
          <Button
            onPress={() => {
              dropEdit(id)
              void client.invalidateQueries({ queryKey: ['message', id] }).then(onTheirs)
            }}
          >
            Take theirs
          </Button>
          <Button onPress={() => void copyText(text, 'what you typed')}>Copy mine</Button>
        </ActionBar>
      ) : null}
      {reviewing ? (
        <Form
          className={styles.form!}
          onSubmit={(event) => {
            event.preventDefault()
            next()
          }}
        >
          <TextField
            label={status === 'DEAD' ? 'Reason (it is DEAD, so it is sent by force)' : 'Reason (not needed)'}
            value={reason}
            onChange={setReason}
            list={lastReasons()}
            autoFocus
          />
          <ActionBar label="Save">
            <Button type="submit" look="primary" refusal={refusal} isDisabled={save.isPending}>
              {save.isPending ? 'Saving …' : 'Save and retry'}
            </Button>
            <Button refusal={refusal} isDisabled={save.isPending} onPress={() => save.mutate(false)}>
              Save only
            </Button>
            <Button look="quiet" onPress={() => setReviewing(false)}>
              Back to the text
            </Button>
          </ActionBar>
        </Form>
      ) : (
        <ActionBar label="Change">
          <Button look="primary" isDisabled={!changed} onPress={next} hint="⌘↵">
            Review
          </Button>
          <Button look="quiet" onPress={() => void navigate({ to: '/messages/$id', params: { id }, search: {} })}>
            Leave it
          </Button>
          {oneLine ? (
            <Checkbox checked={compact} onChange={setCompact}>
              Save on one line, as it came
            </Checkbox>
          ) : null}
        </ActionBar>
      )}
      {changed || reviewing ? null : <Notice look="plain">Nothing is changed yet.</Notice>}
    </>
  )
}
