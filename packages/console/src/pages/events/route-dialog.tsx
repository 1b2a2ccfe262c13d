// One route: which events go to which channel, and when.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Select } from '../../components/controls/select.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { say } from '../../components/toasts.tsx'
import {
  channelsQuery,
  type NotificationRoute,
  type RouteChange,
  saveRoute,
} from '../../data/queries/fleet/notifications.ts'
import { eventTypes, listOf, numberTyped } from '../../domain/events/event-words.ts'
import styles from './events.module.css'

type Texts = Record<
  'name' | 'channel' | 'types' | 'topics' | 'owners' | 'digest' | 'repeat' | 'quiet' | 'muted' | 'dead',
  string
>

const severities = ['info', 'warning', 'critical'] as const

export function RouteDialog({ route, onClose }: { route: NotificationRoute | null; onClose: () => void }) {
  const client = useQueryClient()
  const channels = useQuery(channelsQuery).data ?? []
  const [texts, setTexts] = useState<Texts>(() => textsOf(route))
  const [severity, setSeverity] = useState(route?.min_severity ?? 'info')
  const [wrong, setWrong] = useState<string | null>(null)
  const channel = texts.channel || (channels[0]?.name ?? '')
  const save = useMutation({
    mutationFn: (reason: string) => saveRoute(texts.name.trim(), changeOf({ ...texts, channel }, severity, reason)),
    onSuccess: async () => {
      onClose()
      say(`The route ${texts.name.trim()} is saved`)
      await client.invalidateQueries({ queryKey: ['notifications'] })
    },
  })
  const field = (name: keyof Texts) => ({
    value: texts[name],
    onChange: (text: string) => setTexts({ ...texts, [name]: text }),
  })
  return (
    <AskDialog
      title={route === null ? 'New route' : `Change the route ${route.name}`}
      verb="Save the route"
      reason="offered"
      focusWithin
      isPending={save.isPending}
      error={save.error}
      refusal={channel === '' ? 'there is no channel: it stands in the configuration' : null}
      onClose={onClose}
      onGo={(reason) => {
        const named = texts.name.trim() !== ''
        setWrong(named ? null : 'Give it a name.')
        if (named) save.mutate(reason)
      }}
    >
      <div className={styles.fields}>
        {route === null ? <TextField label="Name" {...field('name')} mono autoFocus fault={wrong} /> : null}
        <Select
          label="Channel"
          value={channel}
          choices={[...new Set([...channels.map(({ name }) => name), channel])]
            .filter((name) => name !== '')
            .map((name) => ({ id: name, text: name }))}
          onChange={(to) => setTexts({ ...texts, channel: to })}
        />
        <TextField
          label="Kinds of events"
          {...field('types')}
          mono
          autoFocus={route !== null}
          note={`Empty: all. ${eventTypes.join(', ')}`}
        />
        <TextField label="Topics" {...field('topics')} mono note="Empty: all. Globs, such as orders.*" />
        <TextField label="Owners" {...field('owners')} mono note="Empty: all" />
        <Select
          label="From this weight on"
          value={severity}
          choices={severities.map((id) => ({ id, text: id }))}
          onChange={setSeverity}
        />
        <TextField label="Together every" {...field('digest')} mono note="The first goes at once; 5m" />
        <TextField label="Said again every" {...field('repeat')} mono note="While it lasts; 4h" />
        <TextField
          label="Quiet hours"
          {...field('quiet')}
          mono
          note="22:00-07:00 Europe/Berlin; critical goes through"
        />
        <TextField label="Muted until" {...field('muted')} mono note="2026-11-22T18:00:00Z, or empty" />
        <TextField label="DEAD from" {...field('dead')} mono note="How many DEAD messages of a topic are too many" />
      </div>
    </AskDialog>
  )
}

function textsOf(route: NotificationRoute | null): Texts {
  return {
    name: route?.name ?? '',
    channel: route?.channel ?? '',
    types: route?.types.join(', ') ?? '',
    topics: route?.topics.join(', ') ?? '',
    owners: route?.owners.join(', ') ?? '',
    digest: route?.digest ?? '5m',
    repeat: route?.repeat_every ?? '4h',
    quiet: route?.quiet ?? '',
    muted: route?.muted_until ?? '',
    dead: route?.dead_threshold == null ? '' : String(route.dead_threshold),
  }
}

/** What cannot be right is left to the API, which names the field. */
function changeOf(texts: Texts, min_severity: NotificationRoute['min_severity'], reason: string): RouteChange {
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim())
  return {
    channel: texts.channel,
    types: listOf(texts.types),
    topics: listOf(texts.topics),
    owners: listOf(texts.owners),
    min_severity,
    digest: texts.digest.trim(),
    repeat_every: texts.repeat.trim(),
    quiet: orNull(texts.quiet),
    muted_until: orNull(texts.muted),
    dead_threshold: numberTyped(texts.dead),
    ...(reason === '' ? {} : { reason }),
  }
}
