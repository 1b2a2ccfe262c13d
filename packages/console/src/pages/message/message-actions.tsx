// What can be done with one message. The answer of the API stays beside the buttons until the next action.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { Menu, type MenuChoice } from '../../components/controls/menu.tsx'
import { useKeys } from '../../components/keys.ts'
import { lazyPart } from '../../components/lazy-part.tsx'
import { ChangeFault } from '../../components/show/fault.tsx'
import { ActionBar, Notice } from '../../components/show/page.tsx'
import { copyText } from '../../components/toasts.tsx'
import { faultOf } from '../../data/faults.ts'
import {
  actOnMessage,
  changeMessage,
  type MessageAction,
  type MessageChange,
  type MessageDetail,
  retryMessage,
} from '../../data/queries/messages.ts'
import { readingAgain } from '../../data/query-client.ts'
import { useMissingRole } from '../../data/session.ts'
import type { Ask } from './message-dialogs.tsx'

// Few visits open one, so the page does not wait for them.
const AskReason = lazyPart(() => import('./message-dialogs.tsx').then(({ AskReason }) => AskReason))
const ScheduleDialog = lazyPart(() => import('./message-dialogs.tsx').then(({ ScheduleDialog }) => ScheduleDialog))

export function MessageActions({ message, etag }: { message: MessageDetail; etag: string | null }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const role = useMissingRole('sys_operator')
  const erased = message.erased_at === null ? null : 'it was erased: nothing of it is left to change or send'
  const refusal = role ?? erased
  const [asked, setAsked] = useState<Ask | 'schedule' | null>(null)
  const { id, status, retryable } = message
  const settled = readingAgain(client, [
    ['message', id],
    ['audit', 'message', id],
  ])
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
  const schedule = useMutation({
    mutationFn: (change: MessageChange) => changeMessage(id, change, { etag }),
    onSettled: settled,
  })
  const error = retry.error ?? act.error ?? schedule.error
  const archived = message.archived_at !== null
  const curl = `curl -H "Authorization: Bearer $TOKEN" "$API/api/v1/dlq/messages/${id}"`
  const forget = () => {
    for (const mutation of [retry, act, schedule]) mutation.reset()
  }
  const begin = (ask: Ask | 'schedule') => {
    forget()
    setAsked(ask)
  }
  const send = () => {
    if (!retryable) return begin('force')
    forget()
    retry.mutate(null)
  }
  useKeys({
    r: () => {
      if (refusal === null && !retry.isPending) send()
    },
    c: () => void copyText(curl, 'a curl command'),
  })
  return (
    <>
      <ActionBar label="What can be done with this message">
        <Button look="primary" refusal={refusal} isPending={retry.isPending} onPress={send} hint="r">
          {retry.isPending ? 'Sending …' : retryable ? 'Retry now' : 'Retry…'}
        </Button>
        {erased === null ? (
          <Link to="/messages/$id/edit" params={{ id }} search={{}} className={buttonClass()}>
            Edit
          </Link>
        ) : null}
        {status === 'DEAD' ? (
          <Button refusal={refusal} onPress={() => begin('revive')}>
            Revive
          </Button>
        ) : (
          <Button refusal={refusal} isDisabled={status !== 'PENDING'} onPress={() => begin('dead')}>
            Give up
          </Button>
        )}
        <Menu
          label="More"
          refusal={role}
          choices={moreChoices(message)}
          onChoose={(choice) => {
            if (choice === 'redirect') void navigate({ to: '/runs/new', search: { kind: 'redirect', ids: id } })
            else begin(choice as Ask | 'schedule')
          }}
        />
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
            else void copyText(curl, 'a curl command')
          }}
        />
      </ActionBar>
      <ChangeFault
        error={error}
        what={
          error !== null && faultOf(error).status === 412
            ? 'It has changed since this page read it; look at it as it is now'
            : 'Not done'
        }
      />
      {retry.data === undefined || retry.isPending ? null : (
        <Notice look="plain">
          {retry.data.status === 202 ? 'Not settled yet: ' : ''}
          {retry.data.message}
        </Notice>
      )}
      {act.isSuccess && act.variables.action === 'archive' && !archived ? (
        <Notice look="plain">It is being archived.</Notice>
      ) : null}
      {asked === 'schedule' ? (
        <ScheduleDialog
          message={message}
          onClose={() => setAsked(null)}
          onGo={(change) => {
            setAsked(null)
            schedule.mutate(change)
          }}
        />
      ) : null}
      {asked === null || asked === 'schedule' ? null : (
        <AskReason
          ask={asked}
          message={message}
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

/** What may not be done now stays in the menu, and says why. */
function moreChoices({ status, archived_at }: MessageDetail): MenuChoice[] {
  const settled = status === 'RESOLVED' || status === 'DEAD'
  return [
    {
      id: 'schedule',
      text: 'Schedule…',
      disabled: status !== 'PENDING',
      note: status === 'PENDING' ? 'when it is tried, and how often' : 'only what waits is tried at a time',
    },
    {
      id: 'redirect',
      text: 'Send to another topic…',
      disabled: status !== 'PENDING',
      ...(status === 'PENDING' ? {} : { note: 'only what waits; a DEAD one is revived first' }),
    },
    archived_at === null
      ? {
          id: 'archive',
          text: 'Archive…',
          disabled: !settled,
          ...(settled ? {} : { note: 'only what was sent or given up' }),
        }
      : { id: 'restore', text: 'Restore…' },
    { id: 'delete', text: 'Delete…', danger: true, disabled: status === 'RETRYING' },
  ]
}
