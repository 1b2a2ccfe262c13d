// Finds the rows of a filter, in order. Each scan goes along one index, chosen by the narrowest field that has one: the
// record key, the error group, the topic (the last two merged over the statuses), a range of creation times, the status,
// and last the ids, which begin with the time of arrival. DLQ topics, and statuses other than DEAD, are merged over the
// original topics that have such messages. The conditions that the index does not decide are tested row by row, on a
// bounded number of rows per statement. The caller learns how far the scan came and continues there. So a search for a
// few rows among millions never takes long in one statement, and leaves no row out.

import { escapeLike, keysBytes, likePattern, type MessageFilter } from '../../domain/message/message-filter.ts'
import { idFloorOf } from '../../domain/record/message-id.ts'
import { type Status, statuses } from '../../domain/retry/message-state.ts'
import { lastFailedAt } from '../failed-at.ts'
import { looseIndexScan } from '../loose-index-scan.ts'
import { waiting } from '../retry/due-topics.ts'
import { type Fragment, type Sql, toArray } from '../sql.ts'
import { joinSql, type SqlText, sqlText, sqlWords, toQuery } from '../sql-text.ts'
import type { TopicCondition } from '../topic-condition.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'
import { topicsOfDlqTopics, topicsWith } from './topics-with.ts'

/** `newest`, `oldest`: by id, and so by the record's time; by created_at where the scan goes along a range of it. */
export type MessageSort = 'newest' | 'oldest' | 'next_due'

export type MessageSearch = {
  filter: MessageFilter
  /**
   * The filter's topic as `resolveTopic` returned it, or `topicWithin`, which gives one also where the filter has none.
   * Otherwise null.
   */
  topic: TopicCondition | null
  scope: TopicScope
  sort: MessageSort
}

export type MessageScan = {
  sortColumn: 'created_at' | 'next_retry_at' | null
  /** `asc` or `desc`, for the sort column and the id. */
  direction: Fragment
  /** The conditions on a row m that the index does not decide. */
  tests: readonly Fragment[]
  table: Fragment
  /** Whether an index is read once for each of many topics, and each time up to the limit. */
  isMerged: boolean
  /**
   * A subquery: the ids and the sort column of the first `limit` rows along the index. `after`: the sort column's value
   * and the id to begin behind.
   */
  ids: (options: { after: readonly string[] | null; limit: number }) => Fragment
  /** A subquery: the ids of any `limit` rows of the scan, for a caller who only counts them. It reads no further rows. */
  someIds: (limit: number) => Fragment
  /** A subquery: the first `limit` rows along the index, with all columns, for a caller who wants columns of most of them. */
  rows: (limit: number) => Fragment
  /** A subquery: one row for each of the first `limit` rows along the index. It reads nothing but the index. */
  places: (limit: number) => Fragment
}

/** A statement with more index scans than this costs more than they save. */
const maxArms = 16

/**
 * `backwards`: against the sort, for the previous page. `alongIds`: by id, whatever fields the filter has. `within`: a
 * condition on m.id, which each index can serve as its last column.
 */
export function scanMessages(
  sql: Sql,
  {
    search,
    backwards = false,
    alongIds = false,
    within,
  }: { search: MessageSearch; backwards?: boolean; alongIds?: boolean; within?: SqlText },
): MessageScan {
  const { filter, scope, sort } = search
  const descending = (sort === 'newest') !== backwards
  const { arms, decides: decidedByIndex, sortColumn } = chooseDriver(search, alongIds)
  // An id begins with the record's time. An index that is read along another time has its ids in no useful order.
  const arrived = sortColumn === null ? arrivedWithin(filter) : []
  const decides: readonly Field[] = sortColumn === null ? [...decidedByIndex, ...arrivalFields] : decidedByIndex
  const alongId = [...(within ? [within] : []), ...arrived]
  const isMerged = arms.some(({ each }) => each !== undefined)
  const table = filter.archived ? 'dlq.dlq_messages_archive' : 'dlq.dlq_messages'
  const tests = [...fieldTests(sql, search, decides), ...scopeTest(sql, scope)]
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
        const { where, orderBy } = walk(
          { ...arm, others: [...(arm.others ?? []), ...alongId] },
          {
            ...{ sortColumn, descending },
            ...way,
          },
        )
        const rows = sqlText`select ${sqlWords(columns)} from ${sqlWords(table)} m where ${where} order by ${orderBy} limit ${limit}`
        return arm.each
          ? sqlText`(select m.* from (${arm.each}) kind cross join lateral (${rows}) m)`
          : sqlText`(${rows})`
      }),
      ' union all ',
    )
  const ids: MessageScan['ids'] = ({ after, limit }) => {
    const columns = sortColumn ? `m.id, m.${sortColumn}` : 'm.id'
    const rows = alongIndexes(columns, limit, { after, endsWithId: true })
    return toQuery(sql, sqlText`(select * from (${rows}) found order by ${order} limit ${limit})`)
  }
  const rows: MessageScan['rows'] = (limit) => {
    // Many topics have many more rows than are wanted, so these are fetched by their ids.
    if (isMerged) {
      const first = alongIndexes('m.id', limit, { after: null, endsWithId: true })
      const row = sqlText`select m.* from ${sqlWords(table)} m where m.id = listed.id offset 0`
      const listed = sqlText`select * from (${first}) found order by ${order} limit ${limit}`
      return toQuery(sql, sqlText`(select m.* from (${listed}) listed cross join lateral (${row}) m)`)
    }
    const found = alongIndexes('m.*', limit, { after: null, endsWithId: true })
    if (arms.length === 1) return toQuery(sql, found)
    return toQuery(sql, sqlText`(select * from (${found}) found order by ${order} limit ${limit})`)
  }
  const someIds: MessageScan['someIds'] = (limit) => {
    const rows = alongIndexes('m.id', limit, { after: null, endsWithId: sortColumn === null })
    return toQuery(sql, sqlText`(select id from (${rows}) found limit ${limit})`)
  }
  const places: MessageScan['places'] = (limit) => {
    // The index of created_at has no ids. To sort by them, PostgreSQL would have to fetch each row.
    const rows = alongIndexes('1', limit, { after: null, endsWithId: sortColumn === null })
    return toQuery(sql, sqlText`(select from (${rows}) found limit ${limit})`)
  }
  return {
    ...{ sortColumn, direction: toQuery(sql, sqlWords(direction)), tests, table: toQuery(sql, sqlWords(table)) },
    ...{ isMerged, ids, someIds, rows, places },
  }
}

/**
 * The rows that a scan reads. `prefix`: the leading columns of one index, each with its value. The index continues with
 * the sort column, if there is one, and the id. `others`: further conditions that the index needs. `each`: a query of
 * rows "kind" whose columns the values name; the index is read for each of them.
 */
type Arm = {
  prefix: readonly (readonly [column: string, value: SqlText])[]
  others?: readonly SqlText[]
  each?: SqlText
}

/**
 * Makes PostgreSQL go along one index and no other. For "status = 'DEAD' order by id" it may choose the primary key and
 * skip rows that are not DEAD, because rows lie on the disk in the order of their ids. Where few are DEAD, or none of
 * the newest, that reads millions. So the columns are part of the order, and are compared by "= any(array[…])": after a
 * plain "=" PostgreSQL would drop them from the order. (A comparison of rows, "(status, id) < ('DEAD', …)", would do
 * that too, but only the first column of a row bounds the end of a scan.)
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
  // As text, because the driver's times have no microseconds.
  const at = sqlText`${after[0]!}::text::timestamptz`
  const column = sqlWords(`m.${sortColumn}`)
  return sqlText`${column} ${than}= ${at} and (${column}, m.id) ${than} (${at}, ${id})`
}

/**
 * The time by which the pages of a search are sorted; null: only by id. It follows from the index, and so also from how
 * many topics a glob matches now.
 */
export function sortColumnOf(search: MessageSearch): MessageScan['sortColumn'] {
  return chooseDriver(search, false).sortColumn
}

type Field = keyof MessageFilter

type Driver = {
  /** Together they are the rows to read. */
  arms: Arm[]
  /** The fields of the filter that they decide. */
  decides: readonly Field[]
  sortColumn: MessageScan['sortColumn']
}

function chooseDriver({ filter, topic, sort }: MessageSearch, alongIds: boolean): Driver {
  const named = (filter.status ?? statuses) as readonly Status[]
  const withStatuses = (prefix: Arm['prefix'], others: readonly SqlText[] = []): Arm[] =>
    named.map((status) => ({ prefix: [...prefix, ['m.status', sqlText`${status}::text`]], others }))
  const sortColumn = null

  // A glob that matches no topic finds nothing, and not after a look at every message.
  if (topic?.names?.length === 0)
    return {
      arms: [{ prefix: [], others: [sqlWords('false')] }],
      decides: ['topic'],
      sortColumn: sort === 'next_due' ? 'next_retry_at' : null,
    }
  if (sort === 'next_due') return dueDriver(topic)
  const topics = (topic?.names ?? null)?.map((name) => [`m.${topic!.column}`, sqlText`${name}::text`] as const)
  if (filter.archived) {
    // The archive has few indexes, because it is written at night and rarely read.
    const indexed = topics && topic!.column === 'original_topic' && topics.length <= maxArms && topics.length > 0
    return indexed
      ? { arms: topics.map((topic) => ({ prefix: [topic] })), decides: ['topic'], sortColumn }
      : { arms: [{ prefix: [] }], decides: [], sortColumn }
  }
  if (filter.key !== undefined) {
    const beginnings = new Set(keysBytes(filter.key).map((key) => key.toString('hex', 0, indexedKeyBytes)))
    const arms = [...beginnings].map((hex): Arm => {
      // Exactly the expression of the index.
      const prefix = [['substring(m.record_key from 1 for 64)', sqlText`${Buffer.from(hex, 'hex')}::bytea`]] as const
      return { prefix, others: [sqlWords('m.record_key is not null')] }
    })
    return { arms, decides: [], sortColumn }
  }
  if (filter.group_id !== undefined) {
    const arms = withStatuses([['m.group_id', sqlText`${filter.group_id}::uuid`]], [sqlWords('m.group_id is not null')])
    return { arms, decides: ['group_id', 'status'], sortColumn }
  }
  if (topics && topics.length > 0 && topic!.column === 'dlq_topic') {
    const names = topic!.names!
    const isTested = topic!.isMixed ?? false
    const of = { statuses: named, dlqTopics: names }
    if (isTested) return { arms: [mergedArm(topicsWith(of))], decides: ['status'], sortColumn }
    // PostgreSQL takes this for true of every other row, and so stays on the index. Of a plain condition it knows how few
    // rows of all topics meet it, and would read and sort all rows of the original topic.
    const isOurs = sqlText`case when m.dlq_topic = any(${toArray(names)}::text[]) then true else false end`
    const arms = [
      mergedArm(topicsOfDlqTopics({ ...of, isShared: false })),
      mergedArm(topicsOfDlqTopics({ ...of, isShared: true }), [isOurs]),
    ]
    return { arms, decides: ['topic', 'status'], sortColumn }
  }
  if (topics && topics.length > 0 && topics.length * named.length <= maxArms) {
    return { arms: topics.flatMap((topic) => withStatuses([topic])), decides: ['topic', 'status'], sortColumn }
  }
  if (topics && filter.topic === undefined)
    return { arms: [mergedArm(kindsOf(topic!.names!, named))], decides: ['status'], sortColumn }
  if (!alongIds && (filter.from !== undefined || filter.to !== undefined)) {
    const others = [createdWithin(filter)]
    return { arms: [{ prefix: [], others }], decides: ['from', 'to'], sortColumn: 'created_at' }
  }
  if (named.length < statuses.length && topic?.column === 'original_topic') {
    const { names, glob } = topic
    const isWanted = names
      ? sqlText`original_topic = any(${toArray(names)}::text[])`
      : sqlText`original_topic like ${likePattern(glob!)}`
    return { arms: [mergedArm(topicsWith({ statuses: named, isWanted }))], decides: ['topic', 'status'], sortColumn }
  }
  if (named.length < statuses.length) {
    const others = named.filter((status) => status !== 'DEAD')
    const arms = others.length === 0 ? [] : [mergedArm(topicsWith({ statuses: others }))]
    return { arms: others.length < named.length ? [deadArm, ...arms] : arms, decides: ['status'], sortColumn }
  }
  return { arms: [{ prefix: [] }], decides: ['status'], sortColumn }
}

/** Each of these topics with each of these statuses. */
function kindsOf(topics: readonly string[], statuses: readonly Status[]): SqlText {
  return sqlText`
    select original_topic, status
    from unnest(${toArray(topics)}::text[]) as topics (original_topic) cross join unnest(${toArray(statuses)}::text[]) as named (status)`
}

/** A literal, because a parameter would not show that idx_dlq_messages_status has the rows. */
const deadArm: Arm = { prefix: [['m.status', sqlWords(`'DEAD'`)]] }

/** Along idx_dlq_messages_original_topic, for each topic and status. */
function mergedArm(each: SqlText, others: readonly SqlText[] = []): Arm {
  const prefix = [
    ['m.original_topic', sqlWords('kind.original_topic')],
    ['m.status', sqlWords('kind.status')],
  ] as const
  return { prefix, others, each }
}

/** The number of bytes of a record key in its index. */
const indexedKeyBytes = 64

/** Due messages are indexed by their original topic, so the scan goes through the topics that have some. */
function dueDriver(topic: TopicCondition | null): Driver {
  const sortColumn = 'next_retry_at'
  const names = topic?.column === 'original_topic' ? topic.names : null
  if (names && names.length > 0 && names.length <= maxArms) {
    const arms = names.map((name) => ({
      prefix: [['m.original_topic', sqlText`${name}::text`] as const],
      others: [waiting],
    }))
    return { arms, decides: ['topic'], sortColumn }
  }
  const others = [sqlWords('m.original_topic = kind.original_topic'), waiting]
  return { arms: [{ prefix: [], others, each: dueTopics }], decides: [], sortColumn }
}

/** The topics with messages that wait for their time. */
const dueTopics = looseIndexScan({ where: waiting })

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
    ...left('key', (key) => {
      const isOne = keysBytes(key).map((bytes) => sql`m.record_key = ${bytes}`)
      return sql`(${isOne.reduce((before, test) => sql`${before} or ${test}`)})`
    }),
    ...(decided.includes('from') || (f.from ?? f.to) === undefined ? [] : [toQuery(sql, createdWithin(f))]),
    ...(decided.includes('arrived_to') ? [] : arrivedWithin(f).map((test) => toQuery(sql, test))),
    ...left('failed_from', (time) => sql`${lastFailedAt(sql)} >= ${time}::text::timestamptz`),
    ...left('failed_to', (time) => sql`${lastFailedAt(sql)} < ${time}::text::timestamptz`),
    ...left('retry_count_min', (count) => sql`m.retry_count >= ${count}`),
    ...left('retry_count_max', (count) => sql`m.retry_count <= ${count}`),
    ...left('q', (text) => {
      const pattern = `%${escapeLike(text)}%`
      return sql`(m.error_message ilike ${pattern} or m.error_class ilike ${pattern})`
    }),
    ...left('payload', (json) => sql`m.payload @> ${json}::text::jsonb`),
  ]
}

/** All conditions of the search on a row m, for rows that were found by another table. */
export function messageTests(sql: Sql, search: MessageSearch): Fragment[] {
  return [...fieldTests(sql, search, []), ...scopeTest(sql, search.scope)]
}

function scopeTest(sql: Sql, scope: TopicScope): Fragment[] {
  return scope === null ? [] : [messageInScope(sql, scope, 'm.')]
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

const arrivalFields = ['arrived_from', 'arrived_to'] as const satisfies readonly Field[]

/** Conditions on the id, whose first bits are the time of the record. */
function arrivedWithin({ arrived_from: from, arrived_to: to }: MessageFilter): SqlText[] {
  const floor = (time: string) => sqlText`${idFloorOf(Date.parse(time))}::uuid`
  return [
    ...(from === undefined ? [] : [sqlText`m.id >= ${floor(from)}`]),
    ...(to === undefined ? [] : [sqlText`m.id < ${floor(to)}`]),
  ]
}
