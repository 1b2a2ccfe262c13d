// All topics: what each holds, and how long Kafka still keeps what nobody has read. Those that lose time come first.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { AddressField } from '../../components/controls/text-field.tsx'
import { useListKeys } from '../../components/lists/list-keys.ts'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { Empty, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { StatusCount } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import { LossClock } from '../../components/topics/loss-clock.tsx'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { useStatus } from '../../data/queries/status.ts'
import { routesQuery, type Topic, topicsQuery } from '../../data/queries/topics.ts'
import { meQuery } from '../../data/session.ts'
import { lossLevel } from '../../domain/topics/loss.ts'
import { noneSeenWords } from '../../domain/topics/seen-words.ts'
import { topicMarks } from '../../domain/topics/topic-verdict.ts'
import { counted, numberText } from '../../domain/words.ts'
import { CandidatesSection } from './candidates/candidates-section.tsx'
import { RoutesTable } from './routes-table.tsx'
import styles from './topics.module.css'

const route = getRouteApi('/topics')
const kinds = [
  { id: 'dlq', text: 'DLQ topics' },
  { id: 'original', text: 'original topics' },
] as const
const sorts = [
  { id: 'expires', text: 'expires first' },
  { id: 'name', text: 'by name' },
  { id: 'dead', text: 'most DEAD' },
  { id: 'pending', text: 'most waiting' },
] as const

export function TopicsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/topics' })
  const now = useNow()
  const kind: 'dlq' | 'original' = search.kind === 'original' ? 'original' : 'dlq'
  const known = sorts.filter(({ id }) => kind === 'dlq' || id !== 'expires')
  const sort = known.find(({ id }) => id === search.sort)?.id ?? known[0]!.id
  const losing = kind === 'dlq' && search.only === 'losing'
  const filter = { kind, sort, ...(search.q ? { q: search.q } : {}), ...(losing ? { only: 'losing' as const } : {}) }
  const list = useInfiniteQuery({ ...topicsQuery(filter), refetchInterval: useLive(5000) })
  const status = useStatus()
  const waiting = useQuery(routesQuery({ state: 'waiting' })).data ?? []
  const slow = useSlow(list.isPending)
  const topics = list.data?.pages.flatMap((page) => page.topics) ?? []
  const clocks = status.data?.loss_clock ?? []
  const burning = clocks.filter((clock) => lossLevel(clock, now) !== 'fine').length
  const setSearch = (to: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (old) => ({ ...old, ...to }), replace: true })
  useListKeys()
  return (
    <>
      <PageHead
        title="Topics"
        documentTitle={burning > 0 ? `${counted(burning, 'topic loses', 'topics lose')} time · Topics` : 'Topics'}
      >
        {status.data === undefined ? (
          <Verdict />
        ) : (
          <Verdict>
            {counted(status.data.dlq_topics, 'DLQ topic is', 'DLQ topics are')} read.{' '}
            {burning === 0
              ? 'Nothing is near its expiry.'
              : `${counted(burning, 'topic has', 'topics have')} records that Kafka deletes within six hours, or has deleted.`}
            {waiting.length === 0 ? '' : ` ${counted(waiting.length, 'route waits', 'routes wait')} for approval.`}
          </Verdict>
        )}
      </PageHead>
      {waiting.length === 0 ? null : (
        <Section title="Routes that wait for approval">
          <RoutesTable routes={waiting} />
        </Section>
      )}
      <CandidatesSection />
      <div className={styles.filters}>
        <AddressField
          label="Search in names"
          hiddenLabel
          type="search"
          placeholder="Search in names"
          value={search.q ?? ''}
          onChange={(q) => setSearch({ q: q === '' ? undefined : q })}
        />
        <Select
          label="Kind"
          hiddenLabel
          value={kind}
          choices={kinds}
          onChange={(to) => setSearch({ kind: to === 'dlq' ? undefined : to, sort: undefined, only: undefined })}
        />
        <Select
          label="Order"
          hiddenLabel
          value={sort}
          choices={known}
          onChange={(to) => setSearch({ sort: to === known[0]!.id ? undefined : to })}
        />
        {kind === 'dlq' ? (
          <Button look="quiet" aria-pressed={losing} onPress={() => setSearch({ only: losing ? undefined : 'losing' })}>
            {losing ? 'Show all' : 'Only those that lose time'}
          </Button>
        ) : null}
      </div>
      <QueryFault query={list} what="The topics cannot be read" />
      {slow ? <Skeleton rows={10} /> : null}
      {list.data !== undefined && topics.length === 0 ? (
        <NoTopic narrowed={search.q !== undefined || losing} kind={kind} />
      ) : null}
      {topics.length === 0 ? null : (
        <Table
          label="Topics"
          dim={list.isPlaceholderData}
          columns={[
            { text: 'Topic' },
            { text: 'DEAD', number: true },
            { text: 'Waiting', number: true },
            { text: 'Sent', number: true },
            { text: 'Oldest waiting' },
            ...(kind === 'dlq' ? [{ text: 'Loss clock' }, { text: 'Stored' }] : []),
          ]}
        >
          {topics.map((topic) => (
            <TopicRow key={`${topic.found?.cluster} ${topic.topic}`} topic={topic} now={now} />
          ))}
        </Table>
      )}
      {list.hasNextPage ? (
        <div>
          <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
            {list.isFetchingNextPage ? 'Loading …' : 'More'}
          </Button>
        </div>
      ) : null}
    </>
  )
}

function TopicRow({ topic, now }: { topic: Topic; now: number }) {
  const { counts, kind, ingestion } = topic
  const clock = ingestion?.loss_clock ?? null
  const under = [
    ...(topic.display_name === null ? [] : [topic.display_name]),
    ...(topic.counterparts.length === 0
      ? []
      : [
          `${kind === 'dlq' ? 'from' : 'to'} ${topic.counterparts.slice(0, 3).join(', ')}${topic.counterparts.length > 3 ? ` and ${numberText(topic.counterparts.length - 3)} more` : ''}`,
        ]),
    ...(topic.found !== null && topic.found.gone_at !== null ? ['gone from Kafka'] : []),
  ]
  return (
    <tr>
      <Cell>
        <span className={styles.name}>
          <Link to="/topics/$topic" params={{ topic: topic.topic }} search={{ kind }} data-row>
            {topic.topic}
          </Link>
          {topicMarks(topic).map((mark) => (
            <Mark key={mark} look={mark.includes('paused') ? 'warm' : 'plain'}>
              {mark}
            </Mark>
          ))}
        </span>
        {under.length === 0 ? null : <Under>{under.join(' · ')}</Under>}
      </Cell>
      <Cell number label="DEAD">
        <StatusCount status="DEAD" count={counts.DEAD} />
      </Cell>
      <Cell number label="Waiting">
        <StatusCount status="PENDING" count={counts.PENDING + counts.RETRYING} />
      </Cell>
      <Cell number label="Sent">
        <StatusCount status="RESOLVED" count={counts.RESOLVED} />
      </Cell>
      <Cell label="Oldest">
        <Time at={topic.oldest_pending_at} />
      </Cell>
      {kind === 'dlq' ? (
        <>
          <Cell label="Loss clock">
            {clock === null ? <span className={styles.quiet}>–</span> : <LossClock clock={clock} now={now} />}
          </Cell>
          <Cell label="Stored">
            <Time at={ingestion?.stored_at ?? null} none="never" />
          </Cell>
        </>
      ) : null}
    </tr>
  )
}

function NoTopic({ narrowed, kind }: { narrowed: boolean; kind: 'dlq' | 'original' }) {
  const noneSeen = noneSeenWords(useQuery(meQuery).data?.topics ?? null, kind)
  if (narrowed) return <Empty>No topic matches.</Empty>
  if (noneSeen !== null) return <Empty>{noneSeen}</Empty>
  return (
    <Empty>
      <p>
        {kind === 'dlq'
          ? 'No DLQ topic has been found in Kafka yet. The ingester reads the topics whose names match kafka.dlq_topic_pattern of the configuration, and those that an administrator adds here.'
          : 'No message has arrived yet, so no original topic is known.'}
      </p>
    </Empty>
  )
}
