// From a filter to the rows that it means, in order. Each scan goes along one index, chosen by the narrowest
// field that has one: the record key, the error group, the topic (the last two merged over the statuses),
// a range of creation, the status, and last the ids. What that index does not decide is tested row by row, and
// only on so many rows per statement: the caller learns how far it came and goes on from there. So nothing that
// is rare in millions of rows ever takes long, and nothing is left out either.

import type postgres from 'postgres'
import { type Status, statuses } from '../message.ts'
import { escapeLike, keyBytes, likePattern, type MessageFilter } from '../message-filter.ts'
import { matchesTopicGlobs } from '../topic-names.ts'
import type { TopicCondition } from './message-topic.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/** `newest`, `oldest`: by id, whose time is the record's; by created_at where a range of it is what narrows the list. */
export type MessageSort = 'newest' | 'oldest' | 'next_due'

export type MessageSearch = {
  filter: MessageFilter
  /** What `resolveTopic` made of the filter's topic; null where it has none. */
  topic: TopicCondition | null
  scope: TopicScope
  sort: MessageSort
}

type Fragment = postgres.PendingQuery<postgres.Row[]>

export type MessageScan = {
  sortColumn: 'created_at' | 'next_retry_at' | null
  /** What `rows` come in. */
  order: Fragment
  /** What the index does not decide. */
  tests: readonly Fragment[]
  /** The first `limit` rows along the index, as a subquery. `after`: the sort columns' values to begin behind. */
  rows: (options: { columns: Fragment; after: readonly string[] | null; limit: number }) => Fragment
}

/** More index scans than this in one statement cost more than they save. */
const maxArms = 16

/** `backwards`: against the sort, for the page before. `alongIds`: by id, whatever narrows the search. */
export function scanMessages(
  sql: Sql,
  { search, backwards = false, alongIds = false }: { search: MessageSearch; backwards?: boolean; alongIds?: boolean },
): MessageScan {
  const driver = chooseDriver(sql, search, alongIds)
  const { filter, scope, sort } = search
  const descending = (sort === 'newest') !== backwards
  const table = filter.archived ? sql`dlq.dlq_messages_archive` : sql`dlq.dlq_messages`
  const tests = [...fieldTests(sql, search, driver.decides), ...scopeTest(sql, search, scope)]
  const direction = descending ? sql`desc` : sql`asc`
  const order = driver.sortColumn
    ? sql`m.${sql(driver.sortColumn)} ${direction}, m.id ${direction}`
    : sql`m.id ${direction}`

  const rows: MessageScan['rows'] = ({ columns, after, limit }) => {
    const behind =
      after === null ? sql`` : sql`and ${afterKey(sql, { sortColumn: driver.sortColumn, descending, after })}`
    // Each with an order and a limit of its own: without them PostgreSQL would read an arm as a whole and sort it.
    const arms = driver.arms.map((arm) =>
      driver.overDueTopics
        ? sql`(select m.* from (${dueTopics(sql)}) due cross join lateral (
                select ${columns} from ${table} m
                where m.original_topic = due.original_topic and ${arm} ${behind} order by ${order} limit ${limit}) m
              order by ${order} limit ${limit})`
        : sql`(select ${columns} from ${table} m where ${arm} ${behind} order by ${order} limit ${limit})`,
    )
    const united = arms.reduce((all, arm) => sql`${all} union all ${arm}`)
    return sql`(select * from (${united}) m order by ${order} limit ${limit})`
  }
  return { sortColumn: driver.sortColumn, order, tests, rows }
}

type Field = keyof MessageFilter

type Driver = {
  /** Conditions, each along one index in the scan's order; together they are the rows to look at. */
  arms: Fragment[]
  /** The fields of the filter that they decide. */
  decides: readonly Field[]
  sortColumn: MessageScan['sortColumn']
  overDueTopics?: boolean
}

function chooseDriver(sql: Sql, { filter, topic, sort }: MessageSearch, alongIds: boolean): Driver {
  const named = (filter.status ?? statuses) as readonly Status[]
  const byStatus = (arms: Fragment[]) =>
    arms.flatMap((arm) => named.map((status) => sql`${arm} and m.status = ${status}`))
  const sortColumn = null

  if (sort === 'next_due') return dueDriver(sql, topic)
  const topics = topic?.names ?? null
  const topicArms = topics?.map((name) => sql`m.${sql(topic!.column)} = ${name}`)
  if (filter.archived) {
    // The archive has few indexes: it is written at night and hardly read.
    const indexed = topicArms && topic!.column === 'original_topic' && topicArms.length <= maxArms
    return indexed
      ? { arms: topicArms, decides: ['topic'], sortColumn }
      : { arms: [sql`true`], decides: [], sortColumn }
  }
  if (filter.key !== undefined) {
    return { arms: [keyBegins(sql, filter.key)], decides: [], sortColumn }
  }
  if (filter.group_id !== undefined) {
    const arms = byStatus([sql`m.group_id = ${filter.group_id}`])
    return { arms, decides: ['group_id', 'status'], sortColumn }
  }
  if (topicArms && topicArms.length * named.length <= maxArms) {
    return { arms: byStatus(topicArms), decides: ['topic', 'status'], sortColumn }
  }
  if (!alongIds && (filter.from !== undefined || filter.to !== undefined)) {
    return { arms: [createdWithin(sql, filter)], decides: ['from', 'to'], sortColumn: 'created_at' }
  }
  if (filter.status) return { arms: byStatus([sql`true`]), decides: ['status'], sortColumn }
  return { arms: [sql`true`], decides: [], sortColumn }
}

/** What is due is indexed by its original topic, so the topics that have something due are gone through. */
function dueDriver(sql: Sql, topic: TopicCondition | null): Driver {
  const waiting = sql`m.status = 'PENDING' and m.next_retry_at is not null`
  const sortColumn = 'next_retry_at'
  const names = topic?.column === 'original_topic' ? topic.names : null
  return names && names.length <= maxArms
    ? { arms: names.map((name) => sql`m.original_topic = ${name} and ${waiting}`), decides: ['topic'], sortColumn }
    : { arms: [waiting], decides: [], sortColumn, overDueTopics: true }
}

/** Goes from topic to topic along the index instead of reading all of it. */
function dueTopics(sql: Sql): Fragment {
  return sql`
    with recursive waiting as (
      (select original_topic from dlq.dlq_messages
       where status = 'PENDING' and next_retry_at is not null
       order by original_topic limit 1)
      union all
      select (select n.original_topic from dlq.dlq_messages n
              where n.status = 'PENDING' and n.next_retry_at is not null and n.original_topic > w.original_topic
              order by n.original_topic limit 1)
      from waiting w where w.original_topic is not null
    )
    select original_topic from waiting where original_topic is not null`
}

function afterKey(
  sql: Sql,
  {
    sortColumn,
    descending,
    after,
  }: { sortColumn: MessageScan['sortColumn']; descending: boolean; after: readonly string[] },
): Fragment {
  const id = after.at(-1)!
  if (sortColumn === null) return descending ? sql`m.id < ${id}` : sql`m.id > ${id}`
  // As text, because the driver's own times end at milliseconds.
  const at = sql`${after[0]!}::text::timestamptz`
  const column = sql`m.${sql(sortColumn)}`
  return descending
    ? sql`${column} <= ${at} and (${column}, m.id) < (${at}, ${id}::uuid)`
    : sql`${column} >= ${at} and (${column}, m.id) > (${at}, ${id}::uuid)`
}

/** Conditions for the fields that the index does not decide. */
function fieldTests(sql: Sql, { filter: f, topic }: MessageSearch, decided: readonly Field[]): Fragment[] {
  const left = <Name extends Field>(name: Name, test: (value: NonNullable<MessageFilter[Name]>) => Fragment) =>
    f[name] === undefined || decided.includes(name) ? [] : [test(f[name] as NonNullable<MessageFilter[Name]>)]
  return [
    ...left('status', (list) => sql`m.status = any(${sql.array([...list])}::text[])`),
    ...left('topic', () => topicTest(sql, topic!)),
    ...left('consumer_group', (group) => sql`m.consumer_group = ${group}`),
    ...left('error_class', (name) => sql`m.error_class = ${name}`),
    ...left('group_id', (id) => sql`m.group_id = ${id}`),
    ...left('partition', (partition) => sql`m.original_partition = ${partition}`),
    ...left('offset_from', (offset) => sql`m.original_offset >= ${offset}::text::bigint`),
    ...left('offset_to', (offset) => sql`m.original_offset <= ${offset}::text::bigint`),
    ...left('key', (key) => sql`m.record_key = ${keyBytes(key)}`),
    ...(decided.includes('from') || (f.from ?? f.to) === undefined ? [] : [createdWithin(sql, f)]),
    ...left('failed_from', (time) => sql`m.last_failed_at >= ${time}::text::timestamptz`),
    ...left('failed_to', (time) => sql`m.last_failed_at < ${time}::text::timestamptz`),
    ...left('retry_count_min', (count) => sql`m.retry_count >= ${count}`),
    ...left('retry_count_max', (count) => sql`m.retry_count <= ${count}`),
    ...left('q', (text) => {
      const pattern = `%${escapeLike(text)}%`
      return sql`(m.error_message ilike ${pattern} or m.error_class ilike ${pattern})`
    }),
    ...left('payload', (json) => sql`m.payload @> ${json}::text::jsonb`),
  ]
}

/** No test where every row of the one topic asked for is in the scope anyway. */
function scopeTest(sql: Sql, { topic }: MessageSearch, scope: TopicScope): Fragment[] {
  const allSeen = scope === null || topic?.names?.every((name) => matchesTopicGlobs(scope, name))
  return allSeen ? [] : [inScope(sql, scope, 'm.')]
}

function topicTest(sql: Sql, { column, names, glob }: TopicCondition): Fragment {
  return names
    ? sql`m.${sql(column)} = any(${sql.array([...names])}::text[])`
    : sql`m.${sql(column)} like ${likePattern(glob!)}`
}

function createdWithin(sql: Sql, { from, to }: MessageFilter): Fragment {
  const lower = sql`m.created_at >= ${from ?? '-infinity'}::text::timestamptz`
  const upper = sql`m.created_at < ${to ?? 'infinity'}::text::timestamptz`
  return sql`${lower} and ${upper}`
}

/** As the index on the key's beginning has it. */
function keyBegins(sql: Sql, key: string): Fragment {
  return sql`m.record_key is not null and substring(m.record_key from 1 for 64) = ${keyBytes(key).subarray(0, 64)}`
}
