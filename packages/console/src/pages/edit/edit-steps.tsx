// Change, review, save and retry. What was typed is never lost: not by a fault, and not by somebody else's change.

import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { ChangeFault } from '../../components/show/fault.tsx'
import { ActionBar, Notice } from '../../components/show/page.tsx'
import { dropEdit, keepEdit } from '../../data/drafts/edit-drafts.ts'
import { lastReasons } from '../../data/drafts/run-drafts.ts'
import { faultOf } from '../../data/faults.ts'
import type { MessageDetail } from '../../data/queries/messages.ts'
import { useMissingRole } from '../../data/session.ts'
import { cellFaults, type EditDraft, editRequest } from '../../domain/payload/edit-draft.ts'
import { faultWords, jsonFault } from '../../domain/payload/json-fault.ts'
import { patchFromTexts } from '../../domain/payload/patch-from-texts.ts'
import { isJson, onOneLine } from '../../domain/payload/value.ts'
import { Conflict } from './conflict.tsx'
import styles from './edit.module.css'
import { EditParts } from './edit-parts.tsx'
import { Review } from './review.tsx'
import { Saved } from './saved.tsx'
import { useSave } from './use-save.ts'

type Props = {
  message: MessageDetail
  etag: string | null
  /** Byte for byte as it is stored. */
  stored: EditDraft
  /** As it is shown: JSON that came on one line is laid out. */
  begin: EditDraft
  /** It was typed before, and not saved. */
  isKept: boolean
  /** The message has changed since it was typed. */
  isStale: boolean
  oneLine: boolean
  /** The value is typed as JSON, and written with its schema. */
  decoded: boolean
  whyFile: string | null
  /** Begins anew with what is stored now. */
  onRestart: () => void
}

export function EditSteps(props: Props) {
  const { message, etag, stored, begin, isKept, isStale, oneLine, decoded, whyFile, onRestart } = props
  const navigate = useNavigate()
  const refusal = useMissingRole('sys_operator')
  const [typed, setTyped] = useState(begin)
  const [compact, setCompact] = useState(oneLine)
  const [reviewing, setReviewing] = useState(false)
  const [reason, setReason] = useState('')
  const { id, status, retryable } = message
  const force = status === 'DEAD' || !retryable
  const draft = { ...typed, value: typed.value !== null && compact ? onOneLine(typed.value) : typed.value }
  const request = editRequest(stored, draft, decoded)
  const changed = Object.keys(request).length > 0
  const wasJson = isJson(stored.value ?? '')
  const broken = wasJson && typed.value !== null ? jsonFault(typed.value) : null
  const faults = [
    ...cellFaults(draft),
    ...(decoded && broken !== null
      ? [`This is no JSON, and its schema takes nothing else: ${faultWords(broken)}.`]
      : []),
  ]
  const lines = draft.value === null ? null : patchFromTexts(stored.value ?? '', draft.value)
  const change = (part: Partial<EditDraft>) => {
    const next = { ...typed, ...part }
    setTyped(next)
    keepEdit(id, etag, next)
  }

  const { save, sending, isBusy, isDone } = useSave({ id, etag, force, reason: reason.trim(), request })
  const left = changed && !save.isSuccess
  const whyForced = status === 'DEAD' ? 'it is DEAD' : 'a plain retry is refused'
  useBlocker({
    shouldBlockFn: () => left && !window.confirm('Leave, and keep what you typed for an hour in this tab?'),
    enableBeforeUnload: () => left,
  })
  const fault = save.error === null ? null : faultOf(save.error)
  const conflict = isStale || fault?.status === 412
  const notExact = fault?.code === 'SYS_DLQ_NOT_EXACT'
  const next = () => {
    if (!changed || faults.length > 0 || save.isPending || save.isSuccess || conflict) return
    if (!reviewing) setReviewing(true)
    else if (refusal === null) save.mutate({ send: true })
  }
  useKeys({
    'Mod+Enter': next,
    Escape: () => {
      if (reviewing && !save.isPending && !save.isSuccess) setReviewing(false)
    },
  })

  if (isDone)
    return (
      <Saved
        before={message}
        sent={sending.data ?? null}
        fault={sending.error === null ? null : faultOf(sending.error)}
        onSend={() => sending.mutate(sending.variables ?? null)}
        {...{ reason: reason.trim(), lines, stored: stored.value ?? '' }}
      />
    )
  return (
    <>
      {isKept ? <Notice look="plain">This is what you typed before; it was not saved.</Notice> : null}
      {/* The editor stays mounted: going back from the review finds everything as it was. */}
      <div hidden={reviewing} className={styles.parts}>
        <EditParts
          {...{ message, begin, whyFile }}
          isJson={wasJson}
          draft={typed}
          changed={request}
          onChange={change}
          onSubmit={next}
        />
      </div>
      {reviewing ? <Review stored={stored} draft={draft} lines={lines} /> : null}
      {broken === null || decoded ? null : (
        <p className={styles.fault} role="status">
          It was JSON, and this is none: {faultWords(broken)}. It can be saved all the same.
        </p>
      )}
      {faults.map((text, place) => (
        <p key={`${place} ${text}`} className={styles.fault} role="status">
          {text}
        </p>
      ))}
      {conflict ? null : <ChangeFault error={save.error} what="Not done. What you typed is kept" />}
      {notExact ? (
        <Notice>
          <span>Written anew, it holds the same but for your change, in other bytes.</span>
          <Button
            refusal={refusal}
            isPending={save.isPending}
            onPress={() => save.mutate({ send: save.variables?.send ?? false, reencode: true })}
          >
            Write it anew, and save
          </Button>
        </Notice>
      ) : null}
      {conflict ? (
        <Conflict
          id={id}
          mine={draft.value}
          onTheirs={() => {
            dropEdit(id)
            onRestart()
          }}
          onMine={(theirTag) => {
            keepEdit(id, theirTag, typed)
            onRestart()
          }}
        />
      ) : null}
      {reviewing && !conflict ? (
        <Form
          className={styles.form!}
          onSubmit={(event) => {
            event.preventDefault()
            next()
          }}
        >
          <TextField
            label={force ? `Reason (${whyForced}, so it is sent by force)` : 'Reason (not needed)'}
            value={reason}
            onChange={setReason}
            list={lastReasons()}
            autoFocus
          />
          <ActionBar label="Save">
            <Button type="submit" look="primary" refusal={refusal} isPending={isBusy} hint="Mod+Enter">
              {isBusy ? 'Saving …' : 'Save and retry'}
            </Button>
            <Button refusal={refusal} isPending={isBusy} onPress={() => save.mutate({ send: false })}>
              Save only
            </Button>
            <Button look="quiet" onPress={() => setReviewing(false)}>
              Back to the change
            </Button>
          </ActionBar>
        </Form>
      ) : null}
      {reviewing ? null : (
        <ActionBar label="Change">
          <Button look="primary" isDisabled={!changed || faults.length > 0} onPress={next} hint="Mod+Enter">
            Review
          </Button>
          <Button look="quiet" onPress={() => void navigate({ to: '/messages/$id', params: { id }, search: {} })}>
            Leave it
          </Button>
          {oneLine && !decoded ? (
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
