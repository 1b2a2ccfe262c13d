// dlq_messages and dlq_attempts: what arrived, was sent, failed again and is DEAD, in stretches of time. Each stretch looks
// at a bounded number of rows, so that the answer takes the same time for any number of messages; where there are more
// rows, a count means "at least".

import { idFloorOf } from '../../domain/record/message-id.ts'
import { statuses } from '../../domain/retry/message-state.ts'
import { type MessageSearch, messageTests, scanMessages } from '../reading/message-scan.ts'
import { passes, rowsOf } from '../reading/message-search.ts'
import type { Fragment, Sql } from '../sql.ts'
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
  const keyed = fromIndex
    ? sql`
      select bucket.n as bucket, null as key, counted.examined as found, counted.examined
      from ${bucketsOf(sql, stretches)} bucket
      cross join lateral (select count(*)::int as examined from ${scan.places(atMost + 1)} found) counted`
    : sql`
      select looked.bucket, looked.key, (count(*) filter (where looked.passed))::int as found, count(*) as examined
      from (
        select bucket.n as bucket, ${passes(sql, scan)} as passed, ${keyOf(sql, by)} as key
        from ${bucketsOf(sql, stretches)} bucket
        cross join lateral ${scan.rows(atMost + 1)} m
      ) looked
      group by 1, 2`
  return countedIn(sql, keyed, atMost)
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
  const keyed = alone
    ? sql`
      select bucket.n as bucket, null as key, counted.examined as found, counted.examined
      from ${bucketsOf(sql, stretches)} bucket
      cross join lateral (select count(*)::int as examined from (${attempts}) attempts) counted`
    : sql`
      (with listed as materialized (
        select bucket.n as bucket, attempts.message_id
        from ${bucketsOf(sql, stretches)} bucket cross join lateral (${attempts}) attempts
      )
      select listed.bucket, passed.key, count(passed.id)::int as found, count(*) as examined
      from listed
      left join (
        select m.id, ${keyOf(sql, by)} as key
        from ${rowsOf(sql, { table: sql`dlq.dlq_messages`, ids: sql`select message_id from listed` })} m
        where ${passes(sql, { tests })}
      ) passed on passed.id = listed.message_id
      group by listed.bucket, passed.key)`
  return countedIn(sql, keyed, atMost)
}

/**
 * `keyed`: a query of the rows with each key that were found and looked at in each bucket. They come as one row for a
 * bucket, because there may be thousands: the driver takes a microsecond for each column of each row.
 */
async function countedIn(sql: Sql, keyed: Fragment, atMost: number): Promise<Counted> {
  const rows = await sql<{ bucket: number; examined: number; found: string }[]>`
    select bucket, sum(examined)::int as examined,
           coalesce(json_agg(json_build_array(key, found)) filter (where found > 0), '[]') as found
    from (${keyed}) keyed
    group by bucket`
  return {
    counts: rows.flatMap(({ bucket, found }) => {
      const keys: [key: string | null, count: number][] = JSON.parse(found)
      return keys.map(([key, count]) => ({ bucket, key, count: Math.min(count, atMost) }))
    }),
    incomplete: new Set(rows.filter(({ examined }) => examined > atMost).map(({ bucket }) => bucket)),
  }
}

/** An index that begins with the status is read once for each of them. */
function boundOf(inAll: number, { steps }: Stretches): number {
  return Math.max(20, Math.floor(inAll / steps / statuses.length))
}

/** The edges are computed here: PostgreSQL takes longer for dlq.uuid_floor than for going down an index. */
function bucketsOf(sql: Sql, { from, stepMs, steps }: Stretches) {
  const edges = Array.from({ length: steps + 1 }, (_, n) => from.getTime() + n * stepMs)
  const times = edges.map((ms) => new Date(ms).toISOString())
  const ids = edges.map(idFloorOf)
  return sql`(
    select (number - 1)::int as n, at, until, from_id, to_id
    from unnest(
      ${sql.array(times.slice(0, -1))}::timestamptz[], ${sql.array(times.slice(1))}::timestamptz[],
      ${sql.array(ids.slice(0, -1))}::uuid[], ${sql.array(ids.slice(1))}::uuid[]) with ordinality as edges (at, until, from_id, to_id, number)
  )`
}

function keyOf(sql: Sql, by: ActivityBy) {
  return by === 'total' ? sql`null` : sql`m.${sql(columnOf[by])}::text`
}
