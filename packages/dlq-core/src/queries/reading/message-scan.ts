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
import { joinSql, type SqlText, sqlText, sqlWords, toQuery } from './sql-text.ts'
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
  /** `asc` or `desc`, of the sort column and the id. */
  direction: Fragment
  /** What the index does not decide, of a row m. */
  tests: readonly Fragment[]
  table: Fragment
  /**
   * The ids, and the sort column, of the first `limit` rows along the index, as a subquery. `after`: the sort
   * column's value and the id to begin behind.
   */
  ids: (options: { after: readonly string[] | null; limit: number }) => Fragment
  /** A row for each of the first `limit` rows along the index, as a subquery; what the index has suffices for it. */
  places: (limit: number) => Fragment
}

/** More index scans than this in one statement cost more than they save. */
const maxArms = 16

/** `backwards`: against the sort, for the page before. `alongIds`: by id, whatever narrows the search. */
export function scanMessages(
  sql: Sql,
  { search, backwards = false, alongIds = false }: { search: MessageSearch; backwards?: boolean; alongIds?: boolean },
): MessageScan {
  const { filter, scope, sort } = search
  const descending = (sort === 'newest') !== backwards
  const { arms, decides, sortColumn, overDueTopics = false } = chooseDriver(search, alongIds)
  const table = filter.archived ? 'dlq.dlq_messages_archive' : 'dlq.dlq_messages'
  const tests = [...fieldTests(sql, search, decides), ...scopeTest(sql, search, scope)]
  const direction = descending ? 'desc' : 'asc'
  const order = sqlWords(sortColumn ? `${sortColumn} ${direction}, id ${direction}` : `id ${direction}`)

  /** The first `limit` rows along the index of each arm; `after` and `endsWithId` as `walk` takes them. */
  const alongIndexes = (
    columns: string,
    limit: number,
    way: { after: readonly string[] | null; endsWithId: boolean },
  ) =>
    joinSql(
      arms.map((arm) => {
        const { where, orderBy } = walk(arm, { sortColumn, descending, ...way })
        const rows = sqlText`select ${sqlWords(columns)} from ${sqlWords(table)} m where ${where} order by ${orderBy} limit ${limit}`
        return overDueTopics
          ? sqlText`(select m.* from (${dueTopics}) due cross join lateral (${rows}) m)`
          : sqlText`(${rows})`
      }),
      ' union all ',
    )
  const ids: MessageScan['ids'] = ({ after, limit }) => {
    const columns = sortColumn ? `m.id, m.${sortColumn}` : 'm.id'
    const rows = alongIndexes(columns, limit, { after, endsWithId: true })
    return toQuery(sql, sqlText`(select * from (${rows}) found order by ${order} limit ${limit})`)
  }
  const places: MessageScan['places'] = (limit) => {
    // The index of created_at has no ids: sorted by them, each row would have to be fetched.
    const rows = alongIndexes('1', limit, { after: null, endsWithId: sortColumn === null })
    return toQuery(sql, sqlText`(select from (${rows}) found limit ${limit})`)
  }
  return {
    ...{ sortColumn, direction: toQuery(sql, sqlWords(direction)), tests, table: toQuery(sql, sqlWords(table)) },
    ...{ ids, places },
  }
}

/**
 * The rows that a scan looks at. `prefix`: the leading columns of one index, each with its value; behind them
 * the index has the sort column, if there is one, and the id. `others`: conditions that the index needs besides.
 */
type Arm = { prefix: readonly (readonly [column: string, value: SqlText])[]; others?: readonly SqlText[] }

/**
 * Along one index and no other. Said as "status = 'DEAD' order by id", PostgreSQL may as well go along the
 * primary key and pass over what is not DEAD, because rows lie on the disk in the order of their ids; where few
 * are DEAD, or none among the newest, that reads millions. So the columns stand in the order as well, and are
 * equated by "= any(array[…])": a plain equation would make their place in the order superfluous. (Rows,
 * "(status, id) < ('DEAD', …)", would do that too, but a scan ends by the first column of a row only.)
 */
function walk(
  { prefix, others = [] }: Arm,
  {
    sortColumn,
    descending,
    after,
    endsWithId,
  }: {
    sortColumn: MessageScan['sortColumn']
    descending: boolean
    after: readonly string[] | null
    endsWithId: boolean
  },
): { where: SqlText; orderBy: SqlText } {
  const equations = prefix.map(([column, value]) => sqlText`${sqlWords(column)} = any(array[${value}])`)
  const bounds = [...others, ...equations, ...(after ? [behind({ sortColumn, descending, after })] : [])]
  const columns = [...prefix.map(([column]) => column), ...(sortColumn ? [`m.${sortColumn}`] : [])]
  const sorted = endsWithId ? [...columns, 'm.id'] : columns
  return {
    where: bounds.length === 0 ? sqlWords('true') : joinSql(bounds, ' and '),
    orderBy: sqlWords(sorted.map((column) => `${column} ${descending ? 'desc' : 'asc'}`).join(', ')),
  }
}

function behind({
  sortColumn,
  descending,
  after,
}: {
  sortColumn: MessageScan['sortColumn']
  descending: boolean
  after: readonly string[]
}): SqlText {
  const id = sqlText`${after.at(-1)!}::uuid`
  const than = sqlWords(descending ? '<' : '>')
  if (sortColumn === null) return sqlText`m.id ${than} ${id}`
  // As text, because the driver's own times end at milliseconds.
  const at = sqlText`${after[0]!}::text::timestamptz`
  const column = sqlWords(`m.${sortColumn}`)
  return sqlText`${column} ${than}= ${at} and (${column}, m.id) ${than} (${at}, ${id})`
}

type Field = keyof MessageFilter

type Driver = {
  /** Together they are the rows to look at. */
  arms: Arm[]
  /** The fields of the filter that they decide. */
  decides: readonly Field[]
  sortColumn: MessageScan['sortColumn']
  overDueTopics?: boolean
}

function chooseDriver({ filter, topic, sort }: MessageSearch, alongIds: boolean): Driver {
  const named = (filter.status ?? statuses) as readonly Status[]
  const withStatuses = (prefix: Arm['prefix'], others: readonly SqlText[] = []): Arm[] =>
    named.map((status) => ({ prefix: [...prefix, ['m.status', sqlText`${status}::text`]], others }))
  const sortColumn = null

  if (sort === 'next_due') return dueDriver(topic)
  const topics = (topic?.names ?? null)?.map((name) => [`m.${topic!.column}`, sqlText`${name}::text`] as const)
  if (filter.archived) {
    // The archive has few indexes: it is written at night and hardly read.
    const indexed = topics && topic!.column === 'original_topic' && topics.length <= maxArms && topics.length > 0
    return indexed
      ? { arms: topics.map((topic) => ({ prefix: [topic] })), decides: ['topic'], sortColumn }
      : { arms: [{ prefix: [] }], decides: [], sortColumn }
  }
  if (filter.key !== undefined) {
    const beginning = sqlText`${keyBytes(filter.key).subarray(0, indexedKeyBytes)}::bytea`
    // Written out as the index has it.
    const prefix = [['substring(m.record_key from 1 for 64)', beginning]] as const
    return { arms: [{ prefix, others: [sqlWords('m.record_key is not null')] }], decides: [], sortColumn }
  }
  if (filter.group_id !== undefined) {
    const arms = withStatuses([['m.group_id', sqlText`${filter.group_id}::uuid`]], [sqlWords('m.group_id is not null')])
    return { arms, decides: ['group_id', 'status'], sortColumn }
  }
  if (topics && topics.length > 0 && topics.length * named.length <= maxArms) {
    return { arms: topics.flatMap((topic) => withStatuses([topic])), decides: ['topic', 'status'], sortColumn }
  }
  if (!alongIds && (filter.from !== undefined || filter.to !== undefined)) {
    const others = [createdWithin(filter)]
    return { arms: [{ prefix: [], others }], decides: ['from', 'to'], sortColumn: 'created_at' }
  }
  if (filter.status) return { arms: withStatuses([]), decides: ['status'], sortColumn }
  return { arms: [{ prefix: [] }], decides: [], sortColumn }
}

/** As many bytes of a record key as its index has. */
const indexedKeyBytes = 64

/** What is due is indexed by its original topic, so the topics that have something due are gone through. */
function dueDriver(topic: TopicCondition | null): Driver {
  const waiting = [sqlWords(`m.status = 'PENDING' and m.next_retry_at is not null and m.run_id is null`)]
  const sortColumn = 'next_retry_at'
  const names = topic?.column === 'original_topic' ? topic.names : null
  if (names && names.length > 0 && names.length <= maxArms) {
    const arms = names.map((name) => ({
      prefix: [['m.original_topic', sqlText`${name}::text`] as const],
      others: waiting,
    }))
    return { arms, decides: ['topic'], sortColumn }
  }
  const arm = { prefix: [], others: [sqlWords('m.original_topic = due.original_topic'), ...waiting] }
  return { arms: [arm], decides: [], sortColumn, overDueTopics: true }
}

/** Goes from topic to topic along the index instead of reading all of it. */
const dueTopics = sqlWords(`
    with recursive waiting as (
      (select original_topic from dlq.dlq_messages
       where status = 'PENDING' and next_retry_at is not null and run_id is null
       order by original_topic limit 1)
      union all
      select (select n.original_topic from dlq.dlq_messages n
              where n.status = 'PENDING' and n.next_retry_at is not null and n.run_id is null and n.original_topic > w.original_topic
              order by n.original_topic limit 1)
      from waiting w where w.original_topic is not null
    )
    select original_topic from waiting where original_topic is not null`)

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
    ...(decided.includes('from') || (f.from ?? f.to) === undefined ? [] : [toQuery(sql, createdWithin(f))]),
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

function createdWithin({ from, to }: MessageFilter): SqlText {
  const lower = sqlText`m.created_at >= ${from ?? '-infinity'}::text::timestamptz`
  const upper = sqlText`m.created_at < ${to ?? 'infinity'}::text::timestamptz`
  return sqlText`${lower} and ${upper}`
}
