// Who changed what, and why. One line per entry; opened, it shows what was before and what after.

import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { AddressField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { useListKeys } from '../../components/lists/list-keys.ts'
import { QueryFault } from '../../components/show/fault.tsx'
import { HiddenNote } from '../../components/show/hidden-note.tsx'
import { Empty, Notice, PageHead, Skeleton, Verdict } from '../../components/show/page.tsx'
import { useSlow } from '../../data/live.ts'
import { type AuditEntry, type AuditFilter, auditFilterNames, auditListQuery } from '../../data/queries/audit.ts'
import { useGroupTitles } from '../../data/queries/groups.ts'
import type { Search } from '../../domain/addresses.ts'
import { actionWords, knownActions, targetTypes } from '../../domain/audit/audit-words.ts'
import { counted, listed, numberText } from '../../domain/words.ts'
import styles from './audit.module.css'
import { AuditLine } from './audit-line.tsx'

const route = getRouteApi('/audit')
const any = 'any'
const ranges = [
  { id: any, text: 'at any time' },
  { id: '-1h', text: 'in the last hour' },
  { id: '-24h', text: 'in the last 24 hours' },
  { id: '-7d', text: 'in the last 7 days' },
]

export function AuditPage() {
  const search = route.useSearch() as Search
  const navigate = useNavigate({ from: '/audit' })
  const filter: AuditFilter = Object.fromEntries(
    auditFilterNames.flatMap((name) => (search[name] ? [[name, search[name]]] : [])),
  )
  const unknown = Object.keys(search).filter(
    (name) => name !== 'open' && !(auditFilterNames as readonly string[]).includes(name),
  )
  const list = useInfiniteQuery({ ...auditListQuery(filter), staleTime: 10_000 })
  const slow = useSlow(list.isPending)
  const entries = list.data?.pages.flatMap((page) => page.entries) ?? []
  const groupOf = ({ target_type, target_id }: AuditEntry) => (target_type === 'group' ? target_id : null)
  const titles = useGroupTitles(entries.map(groupOf))
  const narrowed = Object.keys(filter).length > 0
  const setSearch = (to: Search) => void navigate({ search: (old) => ({ ...old, ...to }), replace: true })
  const choose = (name: keyof AuditFilter) => (id: string) => setSearch({ [name]: id === any ? undefined : id })
  useListKeys()
  useKeys({ '.': () => void list.refetch() })
  return (
    <>
      <PageHead
        title="Audit"
        aside={
          <Button onPress={() => void list.refetch()} hint=".">
            Show new
          </Button>
        }
      >
        {list.data === undefined ? (
          <Verdict />
        ) : (
          <Verdict dim={list.isPlaceholderData}>
            {entries.length === 0
              ? list.hasNextPage
                ? 'None of the newest changes match. There are older ones.'
                : 'Nobody has changed anything in this range.'
              : `${list.hasNextPage ? `The newest ${numberText(entries.length)} changes` : counted(entries.length, 'change')}${narrowed ? ' that match' : ''}, by ${peopleWords(entries.map(({ actor }) => actor))}.`}
          </Verdict>
        )}
      </PageHead>
      <div className={styles.filters}>
        <AddressField
          label="Who"
          value={search.actor ?? ''}
          onChange={(actor) => setSearch({ actor: actor || undefined })}
        />
        <Select
          label="Did what"
          value={search.action ?? any}
          choices={[
            { id: any, text: 'anything' },
            ...[...new Set([...knownActions, ...(search.action ? [search.action] : [])])].map((id) => ({
              id,
              text: actionWords(id),
            })),
          ]}
          onChange={choose('action')}
        />
        <Select
          label="To what"
          value={search.target_type ?? any}
          choices={[{ id: any, text: 'anything' }, ...targetTypes.map((id) => ({ id: id as string, text: id }))]}
          onChange={choose('target_type')}
        />
        <AddressField
          label="Topic"
          value={search.topic ?? ''}
          onChange={(topic) => setSearch({ topic: topic || undefined })}
        />
        <AddressField
          label="Text of the reason"
          value={search.q ?? ''}
          onChange={(q) => setSearch({ q: q || undefined })}
        />
        <Select
          label="When"
          value={search.from ?? any}
          choices={
            ranges.some(({ id }) => id === (search.from ?? any))
              ? ranges
              : [...ranges, { id: search.from!, text: `since ${search.from}` }]
          }
          onChange={choose('from')}
        />
      </div>
      {search.target_id === undefined ? null : (
        <Notice look="plain">
          <span>
            Only of {search.target_type ?? 'the thing'} <code>{search.target_id}</code>
          </span>
          <Button look="quiet" onPress={() => setSearch({ target_id: undefined, target_type: undefined })}>
            Show all
          </Button>
        </Notice>
      )}
      {unknown.length === 0 ? null : (
        <Notice look="plain">
          <span>
            {listed(unknown)} {unknown.length === 1 ? 'is no filter' : 'are no filters'} of the audit: it is not
            narrowed by that.
          </span>
          <Link to="/audit" search={filter}>
            Take it away
          </Link>
        </Notice>
      )}
      <QueryFault query={list} what="The audit cannot be read" />
      {slow ? <Skeleton rows={12} /> : null}
      <HiddenNote of={entries} />
      {list.data !== undefined && entries.length === 0 ? (
        <Empty>
          <p>
            Every change that somebody makes is kept here with its reason: messages, groups, runs, topics, policies,
            jobs.
          </p>
          {narrowed ? <Link to="/audit">Show all changes</Link> : null}
        </Empty>
      ) : (
        <ol className={styles.list} data-dim={list.isPlaceholderData}>
          {entries.map((entry) => (
            <AuditLine
              key={entry.id}
              entry={entry}
              groupTitle={titles.get(groupOf(entry) ?? '') ?? null}
              open={search.open === entry.id}
              onToggle={() => setSearch({ open: search.open === entry.id ? undefined : entry.id })}
            />
          ))}
        </ol>
      )}
      {list.hasNextPage ? (
        <div>
          <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? 'Loading …' : 'Older'}
          </Button>
        </div>
      ) : null}
    </>
  )
}

function peopleWords(actors: readonly string[]): string {
  const people = [...new Set(actors)]
  return people.length <= 3
    ? listed(people)
    : `${people.slice(0, 2).join(', ')} and ${numberText(people.length - 2)} others`
}
