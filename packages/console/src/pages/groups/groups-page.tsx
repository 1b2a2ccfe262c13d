// The inbox: error groups by what is to be done with them. One key triages a group, and z takes it back.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { AddressField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { ChangeFault, QueryFault } from '../../components/show/fault.tsx'
import { Empty, PageHead, Skeleton, Verdict } from '../../components/show/page.tsx'
import { useLive, useSlow } from '../../data/live.ts'
import { type ErrorGroup, groupsQuery } from '../../data/queries/groups.ts'
import { serverNow } from '../../data/server-clock.ts'
import { meQuery, useMissingRole } from '../../data/session.ts'
import { type GroupTab, groupTabs, tabFilter, tabWords } from '../../domain/groups/group-tabs.ts'
import { headOf, numberText } from '../../domain/words.ts'
import { type TriageAct, triageChange, useGroupChange } from '../group/use-triage.tsx'
import { GroupRow } from './group-row.tsx'
import styles from './groups.module.css'

const route = getRouteApi('/groups')
const sorts = [
  { id: 'last_seen', text: 'last seen' },
  { id: 'first_seen', text: 'first seen' },
  { id: 'dead', text: 'most DEAD' },
  { id: 'pending', text: 'most waiting' },
  { id: 'total', text: 'most messages' },
]

export function GroupsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/groups' })
  const me = useQuery(meQuery).data?.actor ?? 'anonymous'
  const refusal = useMissingRole('sys_operator')
  const change = useGroupChange()
  const [at, setAt] = useState(0)
  const [left, setLeft] = useState<readonly string[]>([])
  const [refused, setRefused] = useState<readonly { group: ErrorGroup; error: unknown }[]>([])
  const [dayAgo] = useState(() => new Date(serverNow() - 86_400_000).toISOString())
  const tab = groupTabs.find((one) => one === search.tab) ?? 'open'
  const filter = {
    ...tabFilter(tab, { me, dayAgo }),
    ...(search.q ? { q: search.q } : {}),
    ...(search.dlq_topic ? { dlq_topic: search.dlq_topic } : {}),
    ...(search.owner ? { owner: search.owner } : {}),
    ...(search.sort ? { sort: search.sort } : {}),
  }
  const list = useInfiniteQuery({ ...groupsQuery(filter), refetchInterval: useLive(60_000) })
  const slow = useSlow(list.isPending)
  const totals = list.data?.pages[0]?.totals ?? null
  // What somebody has triaged leaves at once; undo brings it back.
  const rows = (list.data?.pages ?? [])
    .flatMap(({ groups }) => (search.sort === undefined ? byLastSeen(groups) : groups))
    .filter(({ id }) => !left.includes(id))
  const place = Math.min(at, Math.max(0, rows.length - 1))
  const current = rows[place]

  const triage = (group: ErrorGroup | undefined, act: TriageAct) => {
    if (group === undefined || refusal !== null) return
    const { change: to, words } = triageChange(act, me)
    if (tab !== 'all' && to.state !== undefined) setLeft((ids) => [...ids, group.id])
    setRefused(change.isPending ? refused.filter((one) => one.group.id !== group.id) : [])
    // Several may be under way, and of each it is told: callbacks given to mutate() are called for the latest alone.
    change
      .mutateAsync({ group, change: to, words })
      .catch((error: unknown) => setRefused((others) => [...others, { group, error }]))
      .finally(() => setLeft((ids) => ids.filter((id) => id !== group.id)))
  }
  const setSearch = (to: Readonly<Record<string, string | undefined>>, replace = true) => {
    setAt(0)
    void navigate({ search: (old) => ({ ...old, ...to }), replace })
  }
  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, place + by))
    setAt(next)
    document.querySelectorAll<HTMLElement>('[data-group-row]')[next]?.focus()
  }
  const open = (group: ErrorGroup | undefined) => {
    if (group !== undefined) void navigate({ to: '/groups/$id', params: { id: group.id } })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: () => open(current),
    a: () => triage(current, 'mine'),
    s: () => triage(current, 'snooze'),
    i: () => triage(current, 'ignore'),
    d: () => triage(current, 'done'),
    r: () => {
      if (current !== undefined) void navigate({ to: '/runs/new', search: { kind: 'retry', group: current.id } })
    },
    '.': () => void list.refetch(),
  })

  return (
    <>
      <PageHead title="Groups" documentTitle={totals === null ? 'Groups' : `${totals.open ?? 0} open · Groups`}>
        <Verdict dim={list.isPlaceholderData}>
          {list.data === undefined ? null : tabWords(tab, rows.length, totals, list.hasNextPage)}
        </Verdict>
      </PageHead>
      <nav className={styles.tabs} aria-label="Kinds of groups">
        {groupTabs.map((one) => (
          <Link
            key={one}
            to="/groups"
            search={(old: object) => ({ ...old, tab: one === 'open' ? undefined : one }) as never}
            className={styles.tab}
            data-current={one === tab}
            aria-current={one === tab ? 'page' : undefined}
            activeProps={{ 'aria-current': one === tab ? 'page' : undefined } as never}
          >
            {tabNames[one]}
            {totals?.[one] === undefined ? null : <data value={totals[one]}>{numberText(totals[one])}</data>}
          </Link>
        ))}
      </nav>
      <div className={styles.filters}>
        <AddressField
          label="Search in titles"
          hiddenLabel
          type="search"
          placeholder="Search in titles"
          value={search.q ?? ''}
          onChange={(q) => setSearch({ q: q === '' ? undefined : q })}
        />
        <Select
          label="Order"
          hiddenLabel
          value={search.sort ?? 'last_seen'}
          choices={sorts}
          onChange={(sort) => setSearch({ sort: sort === 'last_seen' ? undefined : sort }, false)}
        />
      </div>
      <QueryFault query={list} what="The groups cannot be read" />
      {refused.map(({ group, error }) => (
        <ChangeFault key={group.id} error={error} what={`Not changed: ${headOf(group.title, 120)}`} />
      ))}
      {slow ? <Skeleton rows={8} tall /> : null}
      {list.data !== undefined && rows.length === 0 ? <Empty>{tabEmpty(tab, totals)}</Empty> : null}
      <ul className={styles.list} data-dim={list.isPlaceholderData}>
        {rows.map((group, index) => (
          <GroupRow
            key={group.id}
            group={group}
            current={index === place}
            onFocus={() => setAt(index)}
            refusal={refusal}
            onTriage={(act) => triage(group, act)}
          />
        ))}
      </ul>
      {list.hasNextPage ? (
        <div>
          <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? 'Loading …' : 'More'}
          </Button>
        </div>
      ) : null}
      <p className={styles.keys}>
        {refusal === null
          ? 'j k move · o open · a mine · s snooze · i ignore · d resolved · r retry · z take back'
          : 'j k move · o open'}
      </p>
    </>
  )
}

const tabNames: Record<GroupTab, string> = {
  open: 'Open',
  mine: 'Mine',
  new: 'New',
  regressed: 'Came back',
  snoozed: 'Snoozed',
  ignored: 'Ignored',
  resolved: 'Resolved',
  all: 'All',
}

/** The API lists them by when they were stored; each page goes by what it shows. */
function byLastSeen(groups: readonly ErrorGroup[]): ErrorGroup[] {
  return groups.toSorted((a, b) => Date.parse(b.last_seen_at) - Date.parse(a.last_seen_at))
}

function tabEmpty(tab: GroupTab, totals: Readonly<Record<string, number>> | null): string {
  const snoozed = totals?.snoozed ?? 0
  if (tab === 'open') return snoozed === 0 ? 'Nothing is open.' : `Nothing is open. ${numberText(snoozed)} are snoozed.`
  return 'No error group is here.'
}
