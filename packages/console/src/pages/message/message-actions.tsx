// What can be done with one message. The answer of the API stays beside the buttons until the next action.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { Dialog, DialogActions } from '../../components/controls/dialog.tsx'
import { Menu } from '../../components/controls/menu.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { FaultText } from '../../components/show/fault.tsx'
import { ActionBar, Notice } from '../../components/show/page.tsx'
import { copyText } from '../../components/toasts.tsx'
import { faultOf } from '../../data/faults.ts'
import { actOnMessage, type MessageAction, type MessageDetail, retryMessage } from '../../data/queries/messages.ts'
import { useMissingRole } from '../../data/session.ts'

type Ask = MessageAction | 'force'

const asks: Record<Ask, { title: string; text: string; button: string }> = {
  force: {
    title: 'Send it all the same?',
    text: 'It is given up, or its attempts are spent. Forced, it is sent once, whatever the policy says.',
    button: 'Send it',
  },
  dead: {
    title: 'Give this message up?',
    text: 'It is not tried again by itself. It can be revived.',
    button: 'Give up',
  },
  revive: { title: 'Revive this message?', text: 'It becomes PENDING and is tried again by policy.', button: 'Revive' },
  delete: { title: 'Delete this message?', text: 'It is gone for good. Nothing brings it back.', button: 'Delete' },
}

export function MessageActions({ message, etag }: { message: MessageDetail; etag: string | null }) {
  const client = useQueryClient()
  const refusal = useMissingRole('sys_operator')
  const [asked, setAsked] = useState<Ask | null>(null)
  const { id, status, retryable } = message
  const settled = async () => {
    await client.invalidateQueries({ queryKey: ['message', id] })
    await client.invalidateQueries({ queryKey: ['audit', 'message', id] })
  }
  const retry = useMutation({
    mutationFn: (forced: { reason: string } | null) =>
      retryMessage(id, { force: forced !== null, reason: forced?.reason ?? '', etag: null }),
    onSettled: settled,
  })
  const act = useMutation({
    mutationFn: ({ action, reason }: { action: MessageAction; reason: string }) =>
      actOnMessage(id, action, reason, etag),
    onSettled: settled,
  })
  const fault = retry.error ?? act.error
  const send = () => (retryable ? retry.mutate(null) : setAsked('force'))
  useKeys({
    r: () => {
      if (refusal === null && !retry.isPending) send()
    },
    c: () => void copyText(`curl -H "Authorization: Bearer $TOKEN" "$API/api/v1/dlq/messages/${id}"`, 'a curl command'),
  })
  return (
    <>
      <ActionBar label="What can be done with this message">
        <Button look="primary" refusal={refusal} isDisabled={retry.isPending} onPress={send} hint="r">
          {retry.isPending ? 'Sending …' : retryable ? 'Retry now' : 'Retry…'}
        </Button>
        <Link to="/messages/$id/edit" params={{ id }} search={{}} className={buttonClass()}>
          Edit
        </Link>
        {status === 'DEAD' ? (
          <Button refusal={refusal} onPress={() => setAsked('revive')}>
            Revive
          </Button>
        ) : (
          <Button refusal={refusal} isDisabled={status === 'RESOLVED'} onPress={() => setAsked('dead')}>
            Give up
          </Button>
        )}
        <Button look="danger" refusal={refusal} onPress={() => setAsked('delete')}>
          Delete
        </Button>
        <Menu
          label="Copy"
          choices={[
            { id: 'id', text: 'Id', note: 'y' },
            { id: 'link', text: 'Link', note: 'Shift y' },
            { id: 'curl', text: 'curl', note: 'c' },
          ]}
          onChoose={(what) => {
            if (what === 'id') void copyText(id, 'the id')
            else if (what === 'link') void copyText(window.location.href, 'the link')
            else
              void copyText(`curl -H "Authorization: Bearer $TOKEN" "$API/api/v1/dlq/messages/${id}"`, 'a curl command')
          }}
        />
      </ActionBar>
      {fault === null ? null : (
        <FaultText
          fault={faultOf(fault)}
          what={
            faultOf(fault).status === 412
              ? 'It has changed since this page read it; look at it as it is now'
              : 'Not done'
          }
        />
      )}
      {retry.data === undefined || retry.isPending ? null : (
        <Notice look="plain">
          {retry.data.status === 202 ? 'Not settled yet: ' : ''}
          {retry.data.message}
        </Notice>
      )}
      {asked === null ? null : (
        <AskReason
          ask={asked}
          onClose={() => setAsked(null)}
          onGo={(reason) => {
            setAsked(null)
            if (asked === 'force') retry.mutate({ reason })
            else act.mutate({ action: asked, reason })
          }}
        />
      )}
    </>
  )
}

function AskReason({ ask, onClose, onGo }: { ask: Ask; onClose: () => void; onGo: (reason: string) => void }) {
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  const { title, text, button } = asks[ask]
  const needed = ask === 'force' || ask === 'delete'
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          if (needed && reason.trim() === '') setMissing(true)
          else onGo(reason.trim())
        }}
      >
        <TextField
          label={needed ? 'Reason' : 'Reason (not needed)'}
          value={reason}
          onChange={setReason}
          autoFocus
          fault={missing && reason.trim() === '' ? 'Say why: the audit keeps it.' : null}
        />
        <DialogActions>
          <Button onPress={onClose}>Leave it</Button>
          <Button type="submit" look={ask === 'delete' ? 'danger' : 'primary'}>
            {button}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
