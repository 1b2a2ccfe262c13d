// dlq_messages and dlq_attempts: what arrived, was sent, failed again and is DEAD, in stretches of time. Each stretch looks
// at a bounded number of rows, so that the answer takes the same time for any number of messages; where there are more
// rows, a count means "at least".

import { statuses } from '../../domain/retry/message-state.ts'
import { type MessageSearch, messageTests, scanMessages } from '../reading/message-scan.ts'
import { tested } from '../reading/message-search.ts'
import type { Sql } from '../sql.ts'
import { sqlWords } from '../sql-text.ts'

/** The rows that are looked at in all stretches together: entries of an index, attempts alone, or rows of messages. */
const mostLookedAt = { entries: 40_000, attempts: 20_000, rows: 5_000 }

const columnOf = { topic: 'original_topic', group: 'group_id', consumer_group: 'consumer_group' } as const
export type ActivityBy = 'total' | keyof typeof columnOf

/** What was counted in one stretch under one key. */
export type ActivityCount = { bucket: number; key: string | null; count: number }

export type Counted = {
  counts: ActivityCount[]
  /** The stretches of which only the first rows were looked at. */
  incomplete: Set<number>
}

export type Stretches = {
  from: Date
  stepMs: number
  /** How many. */
  steps: number
}

type Asked = { search: Omit<MessageSearch, 'sort'>; stretches: Stretches; by: ActivityBy }

/** The messages that arrived in each stretch, by their records' times, or those of them that are DEAD now. */
export async function countArrived(
  sql: Sql,
  { search, stretches, by, dead = false }: Asked & { dead?: boolean },
): Promise<Counted> {
  const { status } = search.filter
  if (dead && status !== undefined && !status.includes('DEAD')) return { counts: [], incomplete: new Set() }
  const filter = dead ? { ...search.filter, status: ['DEAD' as const] } : search.filter
  const within = sqlWords('m.id >= bucket.from_id and m.id < bucket.to_id')
  const scan = scanMessages(sql, { search: { ...search, filter, sort: 'oldest' }, alongIds: true, within })
  const fromIndex = by === 'total' && scan.tests.length === 0
  const atMost = boundOf(fromIndex ? mostLookedAt.entries : mostLookedAt.rows, stretches)
  const rows = fromIndex
    ? await sql<Row[]>`
      select bucket.n as bucket, null as key, counted.examined as found, counted.examined
      from ${bucketsOf(sql, stretches)} bucket
      cross join lateral (select count(*)::int as examined from ${scan.places(atMost + 1)} found) counted`
    : await sql<Row[]>`
      select looked.bucket, looked.key, count(looked.id)::int as found, (sum(count(*)) over (partition by looked.bucket))::int as examined
      from (
        select bucket.n as bucket, m.id, ${keyOf(sql, by)} as key
        from ${bucketsOf(sql, stretches)} bucket
        cross join lateral ${scan.ids({ after: null, limit: atMost + 1 })} found
        left join lateral ${tested(sql, scan)} m on true
      ) looked
      group by looked.bucket, looked.key`
  return countedOf(rows, atMost)
}

/** The attempts that were published, or handled by an application, in each stretch; or those of which it is known that they failed again then. */
export async function countAttempts(
  sql: Sql,
  { search, stretches, by, failedAgain = false }: Asked & { failedAgain?: boolean },
): Promise<Counted> {
  const tests = messageTests(sql, { ...search, sort: 'oldest' })
  const alone = by === 'total' && tests.length === 0
  const atMost = boundOf(alone ? mostLookedAt.attempts : mostLookedAt.rows, stretches)
  const at = sql(failedAgain ? 'failed_again_at' : 'settled_at')
  const attempts = sql`
    select message_id from dlq.dlq_attempts
    where ${at} >= bucket.at and ${at} < bucket.until ${failedAgain ? sql`` : sql`and outcome in ('published', 'resolved')`}
    limit ${atMost + 1}`
  const rows = alone
    ? await sql<Row[]>`
      select bucket.n as bucket, null as key, counted.examined as found, counted.examined
      from ${bucketsOf(sql, stretches)} bucket
      cross join lateral (select count(*)::int as examined from (${attempts}) attempts) counted`
    : await sql<Row[]>`
      select looked.bucket, looked.key, count(looked.id)::int as found, (sum(count(*)) over (partition by looked.bucket))::int as examined
      from (
        select bucket.n as bucket, m.id, ${keyOf(sql, by)} as key
        from ${bucketsOf(sql, stretches)} bucket
        cross join lateral (select message_id as id from (${attempts}) attempts) found
        left join lateral ${tested(sql, { table: sql`dlq.dlq_messages`, tests })} m on true
      ) looked
      group by looked.bucket, looked.key`
  return countedOf(rows, atMost)
}

type Row = { bucket: number; key: string | null; found: number; examined: number }

function countedOf(rows: readonly Row[], atMost: number): Counted {
  return {
    counts: rows
      .filter(({ found }) => found > 0)
      .map(({ bucket, key, found }) => ({ bucket, key, count: Math.min(found, atMost) })),
    incomplete: new Set(rows.filter(({ examined }) => examined > atMost).map(({ bucket }) => bucket)),
  }
}

/** An index that begins with the status is read once for each of them. */
function boundOf(inAll: number, { steps }: Stretches): number {
  return Math.max(20, Math.floor(inAll / steps / statuses.length))
}

function bucketsOf(sql: Sql, { from, stepMs, steps }: Stretches) {
  return sql`(
    select n, at, until, dlq.uuid_floor(at) as from_id, dlq.uuid_floor(until) as to_id
    from (
      select n, ${from}::timestamptz + n * step as at, ${from}::timestamptz + (n + 1) * step as until
      from generate_series(0, ${steps - 1}::int) n
      cross join (select ${stepMs}::float8 * interval '1 ms' as step) step
    ) steps
  )`
}

function keyOf(sql: Sql, by: ActivityBy) {
  return by === 'total' ? sql`null` : sql`m.${sql(columnOf[by])}::text`
}
