// State, owner and note of a group: changed at once, and taken back for ten seconds.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { Dialog, DialogActions } from '../../components/controls/dialog.tsx'
import { Menu } from '../../components/controls/menu.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { ChangeFault } from '../../components/show/fault.tsx'
import { say, toast } from '../../components/toasts.tsx'
import { faultOf } from '../../data/faults.ts'
import { changeGroup, type ErrorGroup, type GroupChange, groupQuery } from '../../data/queries/groups.ts'
import { readingAgain } from '../../data/query-client.ts'
import { serverNow } from '../../data/server-clock.ts'
import { meQuery, useMissingRole } from '../../data/session.ts'
import { settings } from '../../data/settings.ts'
import { nextMorning } from '../../domain/time.ts'

/** The change that takes another one back. What that did not touch stays: somebody else may have changed it since. */
function formerOf({ state, snoozed_until, owner, note }: ErrorGroup, change: GroupChange): GroupChange {
  return {
    ...(change.state === undefined ? {} : { state }),
    ...(change.state !== undefined && state === 'snoozed' && snoozed_until !== null ? { snoozed_until } : {}),
    ...(change.owner === undefined ? {} : { owner }),
    ...(change.note === undefined ? {} : { note }),
  }
}

const snoozes = [
  { id: 'hour', text: 'Snooze for 1 hour', until: (now: Date) => new Date(now.getTime() + 3_600_000) },
  { id: 'morning', text: 'Snooze until 08:00', until: (now: Date) => nextMorning(now, settings.get().zone, 8) },
  {
    id: 'monday',
    text: 'Snooze until Monday 08:00',
    until: (now: Date) => nextMorning(now, settings.get().zone, 8, 1),
  },
] as const

export type TriageAct = 'mine' | 'snooze' | 'ignore' | 'done'

/** What one key does to a group, and what is said about it. */
export function triageChange(act: TriageAct, me: string): { change: GroupChange; words: string } {
  if (act === 'mine') return { change: { owner: me }, words: `Yours, ${me}` }
  if (act === 'snooze')
    return {
      change: { state: 'snoozed', snoozed_until: snoozes[0].until(new Date(serverNow())).toISOString() },
      words: 'Snoozed for 1 hour',
    }
  if (act === 'ignore')
    return {
      change: { state: 'ignored' },
      words: 'Ignored: still stored and retried by policy; no longer counted as burning',
    }
  return { change: { state: 'resolved' }, words: 'Resolved; it comes back by itself if it fails again' }
}

export function useGroupChange() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ group, change }: { group: ErrorGroup; change: GroupChange; words: string }) =>
      changeGroup(group.id, change),
    // Until it is answered nothing can be taken back: the key would take back the change before it.
    onMutate: () => toast.set(null),
    onSuccess: (_, { group, change, words }) => {
      say(words, () => {
        void changeGroup(group.id, formerOf(group, change))
          .then(() => say('Taken back'))
          .catch((error) => say(`It could not be taken back: ${faultOf(error).message}`))
          .finally(() => void client.invalidateQueries())
      })
    },
    onSettled: (data, error, { group }) =>
      readingAgain(client, [groupQuery(group.id).queryKey, ['groups'], ['audit', 'group', group.id]])(data, error),
  })
}

export function useTriage(group: ErrorGroup | null) {
  const client = useQueryClient()
  const refusal = useMissingRole('sys_operator')
  const change = useGroupChange()
  const [asked, setAsked] = useState<'owner' | 'note' | null>(null)
  const me = client.getQueryData(meQuery.queryKey)?.actor ?? 'anonymous'
  const apply = (to: GroupChange, words: string) => {
    if (group !== null && refusal === null)
      change.mutate({ group, change: to, words }, { onSuccess: () => setAsked(null) })
  }
  const ask = (what: 'owner' | 'note') => {
    if (refusal !== null) return
    change.reset()
    setAsked(what)
  }
  const snooze = (id: string) =>
    apply(
      {
        state: 'snoozed',
        snoozed_until: snoozes
          .find((one) => one.id === id)!
          .until(new Date(serverNow()))
          .toISOString(),
      },
      'Snoozed',
    )
  const act = (what: TriageAct) => {
    const { change: to, words } = triageChange(what, me)
    apply(to, words)
  }
  const keys = {
    a: () => act('mine'),
    s: () => act('snooze'),
    i: () => act('ignore'),
    d: () => act('done'),
    m: () => ask('owner'),
    n: () => ask('note'),
  }
  const { error } = change
  const menus =
    group === null ? null : (
      <>
        <Menu
          label="State"
          look="quiet"
          refusal={refusal}
          choices={[
            { id: 'open', text: 'Open', disabled: group.state === 'open' },
            { id: 'resolved', text: 'Resolved', note: 'd · it comes back by itself if it fails again' },
            ...snoozes.map(({ id, text }) => ({ id, text })),
            { id: 'ignored', text: 'Ignored', note: 'i · still stored and retried by policy; not counted as burning' },
          ]}
          onChoose={(id) => {
            if (id === 'resolved') keys.d()
            else if (id === 'ignored') keys.i()
            else if (id === 'open') apply({ state: 'open' }, 'Open again')
            else snooze(id)
          }}
        >
          <span className="visually-hidden">State: </span>
          {group.state}
        </Menu>
        <Menu
          label="Owner"
          look="quiet"
          refusal={refusal}
          choices={[
            { id: 'mine', text: `Mine (${me})`, note: 'a' },
            { id: 'nobody', text: 'Nobody' },
            { id: 'other', text: 'Somebody else…', note: 'm' },
          ]}
          onChoose={(id) => {
            if (id === 'mine') keys.a()
            else if (id === 'nobody') apply({ owner: null }, 'Owned by nobody')
            else ask('owner')
          }}
        >
          <span className="visually-hidden">Owner: </span>
          {group.owner ?? 'nobody'}
        </Menu>
        <Button look="quiet" refusal={refusal} onPress={() => ask('note')}>
          {group.note === null ? 'Add a note' : 'Change the note'}
        </Button>
        {asked === null ? null : (
          <AskText
            what={asked}
            former={group[asked] ?? ''}
            isPending={change.isPending}
            error={error}
            onClose={() => setAsked(null)}
            onSave={(text) =>
              apply({ [asked]: text === '' ? null : text }, asked === 'note' ? 'Noted' : `Owned by ${text || 'nobody'}`)
            }
          />
        )}
      </>
    )
  return { keys, menus, error: asked === null ? error : null }
}

type AskProps = {
  what: 'owner' | 'note'
  former: string
  isPending: boolean
  error: Error | null
  onClose: () => void
  onSave: (text: string) => void
}

/** It is closed once the answer is there: what is typed is not lost by a refusal. */
function AskText({ what, former, isPending, error, onClose, onSave }: AskProps) {
  const [text, setText] = useState(former)
  const save = () => {
    if (!isPending) onSave(text.trim())
  }
  useKeys({ 'Mod+Enter': save }, 'dialog')
  return (
    <Dialog title={what === 'owner' ? 'Who owns this group?' : 'Note for whoever comes next'} onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <TextField
          label={what === 'owner' ? 'Owner' : 'Note'}
          value={text}
          onChange={setText}
          autoFocus
          {...(what === 'note' ? { lines: 3 } : {})}
        />
        <ChangeFault error={error} what="Not changed" />
        <DialogActions>
          <Button onPress={onClose}>Leave it</Button>
          <Button type="submit" look="primary" isPending={isPending} hint="Mod+Enter">
            {isPending ? 'Saving …' : 'Save'}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
