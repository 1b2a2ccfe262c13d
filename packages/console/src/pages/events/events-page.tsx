// What happened in the fleet that somebody should have heard of, and who hears it.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { Empty, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { useLive, useSlow } from '../../data/live.ts'
import {
  channelsQuery,
  deliveriesPerPage,
  deliveriesQuery,
  eventsQuery,
  type FleetEvent,
} from '../../data/queries/fleet/notifications.ts'
import { useGroupTitles } from '../../data/queries/groups.ts'
import { meQuery } from '../../data/session.ts'
import { eventsVerdict, eventTypes, eventTypeWords, lastingTypes } from '../../domain/events/event-words.ts'
import { headOf } from '../../domain/words.ts'
import { Channels } from './channels.tsx'
import { Deliveries } from './deliveries.tsx'
import styles from './events.module.css'
import { Routes } from './routes.tsx'

const route = getRouteApi('/events')

export function EventsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/events' })
  const type = eventTypes.find((one) => one === search.type)
  const lasting = search.only === 'lasting'
  const live = useLive(15_000)
  const list = useInfiniteQuery({ ...eventsQuery({ type, lasting }), refetchInterval: live })
  const now = useInfiniteQuery({ ...eventsQuery({ type: undefined, lasting: true }), refetchInterval: live })
  const me = useQuery(meQuery).data
  const ofAll = me !== undefined && me.topics === null
  const channels = useQuery({ ...channelsQuery, enabled: ofAll, refetchInterval: live })
  const dead = useQuery({ ...deliveriesQuery('dead'), enabled: ofAll, refetchInterval: live })
  const awaitsTold = ofAll ? channels.isPending || dead.isPending : me === undefined
  const slow = useSlow(list.isPending)
  const events = list.data?.pages.flatMap((page) => page.events) ?? []
  const titles = useGroupTitles(events.map(({ group_id }) => group_id))
  const setSearch = (to: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (old) => ({ ...old, ...to }), replace: true })
  return (
    <>
      <PageHead title="Events">
        {now.data === undefined || awaitsTold ? (
          <Verdict />
        ) : (
          <Verdict>
            {eventsVerdict({
              lasting: { count: now.data.pages.flatMap((page) => page.events).length, more: now.hasNextPage },
              channels: channels.data?.length ?? null,
              dead:
                dead.data === undefined
                  ? null
                  : { count: dead.data.length, more: dead.data.length >= deliveriesPerPage },
            })}
          </Verdict>
        )}
      </PageHead>
      <Section
        title="What happened"
        aside={<span>of the last 30 days</span>}
        awaits={list.isPending || me === undefined}
      >
        <div className={styles.filters}>
          <Select
            label="Kind"
            hiddenLabel
            value={type ?? 'all'}
            choices={[
              { id: 'all', text: 'all kinds' },
              ...eventTypes.map((id) => ({ id: id as string, text: eventTypeWords(id), note: id })),
            ]}
            onChange={(id) => setSearch({ type: id === 'all' ? undefined : id })}
          />
          <Button
            look="quiet"
            aria-pressed={lasting}
            onPress={() => setSearch({ only: lasting ? undefined : 'lasting' })}
          >
            {lasting ? 'Show all' : 'Only what lasts'}
          </Button>
        </div>
        <QueryFault query={list} what="The events cannot be read" />
        {slow ? <Skeleton rows={8} tall /> : null}
        {list.data !== undefined && events.length === 0 ? (
          <Empty>
            {lasting || type !== undefined
              ? 'Nothing of this kind.'
              : 'Nothing has happened yet that somebody should have heard of: new error groups, runs that ended, records that are about to be lost.'}
          </Empty>
        ) : null}
        {events.length === 0 ? null : (
          <Table
            label="Events"
            dim={list.isPlaceholderData}
            columns={[{ text: 'When' }, { text: 'What' }, { text: 'Weight' }, { text: 'Until' }]}
          >
            {events.map((event) => (
              <EventRow key={event.id} event={event} group={titles.get(event.group_id ?? '') ?? null} />
            ))}
          </Table>
        )}
        {list.hasNextPage ? (
          <div>
            <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
              {list.isFetchingNextPage ? 'Loading …' : 'Earlier'}
            </Button>
          </div>
        ) : null}
      </Section>
      {me === undefined ? null : ofAll ? (
        <>
          <Channels />
          <Routes />
          <Deliveries />
        </>
      ) : (
        <p className={styles.quiet}>Who hears of them is shown to tokens for all topics.</p>
      )}
    </>
  )
}

const looks = { info: 'plain', warning: 'warm', critical: 'hot' } as const

/** `group`: the title of its error group. */
function EventRow({ event, group }: { event: FleetEvent; group: string | null }) {
  const { type, title, severity, at, ended_at, owner } = event
  return (
    <tr>
      <Cell>
        <Time at={at} />
      </Cell>
      <Cell>
        <Subject event={event}>
          <DirectedText text={title} />
        </Subject>
        <Under>
          {eventTypeWords(type)}
          {owner === null ? '' : ` · ${owner}`}
          {group === null || title.includes(group) ? null : <bdi> · {headOf(group, 120)}</bdi>}
        </Under>
      </Cell>
      <Cell label="Weight">
        <Mark look={looks[severity]}>{severity}</Mark>
      </Cell>
      <Cell label="Until">
        {lastingTypes.has(type) ? <Time at={ended_at} none="it lasts" /> : <span className={styles.quiet}>–</span>}
      </Cell>
    </tr>
  )
}

/** The title as a link to what it is about, where that is one thing. */
function Subject({ event, children }: { event: FleetEvent; children: ReactNode }) {
  const { type, run_id, group_id, dlq_topic, original_topic } = event
  const topic = dlq_topic ?? original_topic
  if (run_id !== null)
    return (
      <Link to="/runs/$id" params={{ id: run_id }} search={{}}>
        {children}
      </Link>
    )
  if (group_id !== null)
    return (
      <Link to="/groups/$id" params={{ id: group_id }} search={{}}>
        {children}
      </Link>
    )
  if (topic === null) return children
  // Until somebody reads it, it has no page of its own: it stands above the list.
  if (type === 'topic.found')
    return (
      <Link to="/topics" search={{ q: topic }}>
        {children}
      </Link>
    )
  return (
    <Link to="/topics/$topic" params={{ topic }} search={{}}>
      {children}
    </Link>
  )
}
