// Change, review, save and retry. What was typed is never lost: not by a fault, and not by somebody else's change.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { FaultText } from '../../components/show/fault.tsx'
import { ActionBar, Notice } from '../../components/show/page.tsx'
import { keepReason, lastReasons } from '../../data/drafts.ts'
import { dropEdit, keepEdit } from '../../data/edit-drafts.ts'
import { faultOf } from '../../data/faults.ts'
import { changeMessage, type MessageDetail, retryMessage } from '../../data/queries/messages.ts'
import { useMissingRole } from '../../data/session.ts'
import { cellFaults, type EditDraft, editRequest } from '../../domain/payload/edit-draft.ts'
import { patchFromTexts } from '../../domain/payload/patch-from-texts.ts'
import { isJson, jsonFault, onOneLine } from '../../domain/payload/value.ts'
import { Conflict } from './conflict.tsx'
import styles from './edit.module.css'
import { EditParts } from './edit-parts.tsx'
import { Review } from './review.tsx'
import { Saved } from './saved.tsx'

type Props = {
  message: MessageDetail
  etag: string | null
  /** Byte for byte as it is stored. */
  stored: EditDraft
  /** As it is shown: JSON that came on one line is laid out. */
  begin: EditDraft
  oneLine: boolean
  whyFile: string | null
  /** Begins anew with what is stored now. */
  onRestart: () => void
}

export function EditSteps({ message, etag, stored, begin, oneLine, whyFile, onRestart }: Props) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const refusal = useMissingRole('sys_operator')
  const [typed, setTyped] = useState(begin)
  const [compact, setCompact] = useState(oneLine)
  const [reviewing, setReviewing] = useState(false)
  const [reason, setReason] = useState('')
  const { id, status, retryable } = message
  const draft = { ...typed, value: typed.value !== null && compact ? onOneLine(typed.value) : typed.value }
  const request = editRequest(stored, draft)
  const changed = Object.keys(request).length > 0
  const faults = cellFaults(draft)
  const jsonBroken = isJson(stored.value ?? '') && typed.value !== null ? jsonFault(typed.value) : null
  const lines = draft.value === null ? null : patchFromTexts(stored.value ?? '', draft.value)
  const change = (part: Partial<EditDraft>) => {
    const next = { ...typed, ...part }
    setTyped(next)
    keepEdit(id, etag, { ...next, file: null })
  }

  const save = useMutation({
    mutationFn: async (send: boolean) => {
      const given = reason.trim()
      const newTag = await changeMessage(id, { ...request, ...(given === '' ? {} : { reason: given }) }, etag)
      dropEdit(id)
      keepReason(given)
      if (!send) return null
      const forced = status === 'DEAD' || !retryable
      return retryMessage(id, { force: forced, reason: given || 'changed and sent again', etag: newTag })
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['message', id] }),
  })
  const left = changed && !save.isSuccess
  useBlocker({
    shouldBlockFn: () => left && !window.confirm('Leave, and keep what you typed for an hour in this tab?'),
    enableBeforeUnload: () => left,
  })
  const conflict = save.error !== null && faultOf(save.error).status === 412
  const next = () => {
    if (!changed || faults.length > 0 || save.isPending || save.isSuccess || conflict) return
    if (!reviewing) setReviewing(true)
    else if (refusal === null) save.mutate(true)
  }
  useKeys({
    'Mod+Enter': next,
    Escape: () => {
      if (reviewing && !save.isPending && !save.isSuccess) setReviewing(false)
    },
  })

  if (save.isSuccess)
    return <Saved before={message} sent={save.data} reason={reason.trim()} lines={lines} stored={stored.value ?? ''} />
  return (
    <>
      {/* The editor stays mounted: going back from the review finds everything as it was. */}
      <div hidden={reviewing} className={styles.parts}>
        <EditParts {...{ message, begin, whyFile }} draft={typed} changed={request} onChange={change} onSubmit={next} />
      </div>
      {reviewing ? <Review stored={stored} draft={draft} lines={lines} /> : null}
      {jsonBroken === null ? null : (
        <p className={styles.fault} role="status">
          It was JSON, and this is none (line {typed.value!.slice(0, jsonBroken.offset).split('\n').length}). It can be
          saved all the same.
        </p>
      )}
      {faults.map((fault) => (
        <p key={fault} className={styles.fault} role="status">
          {fault}
        </p>
      ))}
      {save.error === null || conflict ? null : (
        <FaultText fault={faultOf(save.error)} what="Not done. What you typed is kept" />
      )}
      {conflict ? (
        <Conflict
          id={id}
          mine={draft.value}
          onTheirs={() => {
            dropEdit(id)
            onRestart()
          }}
          onMine={(theirTag) => {
            keepEdit(id, theirTag, { ...typed, file: null })
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
            label={status === 'DEAD' ? 'Reason (it is DEAD, so it is sent by force)' : 'Reason (not needed)'}
            value={reason}
            onChange={setReason}
            list={lastReasons()}
            autoFocus
          />
          <ActionBar label="Save">
            <Button type="submit" look="primary" refusal={refusal} isDisabled={save.isPending} hint="Mod+Enter">
              {save.isPending ? 'Saving …' : 'Save and retry'}
            </Button>
            <Button refusal={refusal} isDisabled={save.isPending} onPress={() => save.mutate(false)}>
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
