// Compares the counts with count(*), while all kinds of changes go on at once and many are rolled back. DLQ_SOAK=1 runs
// it at full size.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectAsService } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { listCounts } from 'dlq-testing/rows/summary-counts.ts'
import { expect, test } from 'vitest'
import type { Transaction } from '../../runtime/database/database.ts'
import { deleteMessages } from '../change/delete-messages.ts'
import { releaseExpiredLeases } from '../retry/expired-leases.ts'
import { giveBack, markDead, takeIntoRun } from '../runs/run-messages.ts'
import { restoreArchived } from '../upkeep/archive.ts'
import { foldSummary, getSummaryState, groupLines, lines, reconcileSummary } from './summary.ts'

const database = useDatabase()

const soak = process.env.DLQ_SOAK === '1'
const operationCount = soak ? 10_000 : 500
const momentCount = soak ? 100 : 20
const connectionCount = 8

/** A repeatable generator of random numbers (mulberry32). */
function createRandom(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return { next, below, pick: <T>(items: readonly T[]): T => items[below(items.length)]! }
}
type Random = ReturnType<typeof createRandom>

const topics = ['orders', 'payments', 'shipping']
const statuses = ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD']
const errorGroups = [null, ...Array.from({ length: 4 }, () => randomUUID())]
/** Months of partitions that come and go: dlq_messages_2031_01 and so on. */
const passingMonths = [1, 2, 3, 4]
const monthName = (month: number) => `dlq.dlq_messages_2031_0${month}`

function someRow({ pick, next }: Random) {
  return {
    original_topic: pick(topics),
    error_message: 'processing failed',
    dlq_topic: pick([null, 'a.dlq.v1', 'b.dlq.v1']),
    consumer_group: pick([null, 'billing', 'mail']),
    group_id: pick(errorGroups),
    status: pick(statuses),
    record_value: Buffer.alloc(Math.floor(next() * 3000)),
    updated_at: new Date(Date.now() - 40 * 86_400_000),
  }
}

/** Ids of up to `limit` rows, from anywhere. Its caller may have to wait for others with the same ids. */
function someIds(sql: Transaction, limit: number) {
  return sql`select id from dlq.dlq_messages order by random() limit ${limit}`
}

type Operation = (sql: Transaction, random: Random) => Promise<unknown>

const aRun = '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11'

const operations: Record<string, Operation> = {
  insert: (sql, random) =>
    sql`insert into dlq.dlq_messages ${sql(Array.from({ length: 1 + random.below(20) }, () => someRow(random)))}`,
  insertOfMonth: (sql, random) =>
    sql`insert into dlq.dlq_messages (id, original_topic, error_message)
        select (left(dlq.uuid_floor(${`2031-0${random.pick(passingMonths)}-09T00:00:00Z`}::timestamptz)::text, 13) || right(gen_random_uuid()::text, 23))::uuid,
               ${random.pick(topics)}, 'later' from generate_series(1, 5)`,
  insertAgain: (sql, random) =>
    sql`insert into dlq.dlq_messages (id, original_topic, error_message)
        select id, 'never', 'again' from (${someIds(sql, random.below(9))}) known on conflict (id) do nothing`,
  upsert: (sql, random) =>
    sql`insert into dlq.dlq_messages (id, original_topic, error_message)
        select id, 'never', 'again' from (${someIds(sql, random.below(9))}) known
        union all select dlq.new_message_id(), ${random.pick(topics)}, 'new'
        on conflict (id) do update set status = ${random.pick(statuses)}`,
  changeStatus: (sql, random) =>
    sql`update dlq.dlq_messages set status = ${random.pick(statuses)} where id in (${someIds(sql, 30)})`,
  changeKey: (sql, random) =>
    sql`update dlq.dlq_messages set group_id = ${random.pick(errorGroups)}, consumer_group = ${random.pick([null, 'mail'])},
          original_topic = ${random.pick(topics)}, dlq_topic = null
        where id in (${someIds(sql, 9)})`,
  changeNothingCounted: (sql) =>
    sql`update dlq.dlq_messages set next_retry_at = now() where id in (${someIds(sql, 30)})`,
  moveToAnotherPartition: (sql) =>
    sql`update dlq.dlq_messages set id = (left(gen_random_uuid()::text, 13) || right(id::text, 23))::uuid where id in (${someIds(sql, 3)})`,
  remove: (sql) => sql`delete from dlq.dlq_messages where id in (${someIds(sql, 6)})`,
  removeOne: async (sql) => {
    const [row] = await someIds(sql, 1)
    if (row) await deleteMessages(sql, { ids: [row.id], archived: false })
  },
  takeIntoRun: async (sql) => {
    const ids = (await someIds(sql, 20)).map(({ id }) => id)
    await takeIntoRun(sql, { runId: aRun, ids, cutoff: 'infinity', scope: null, redirects: false, isForced: false })
  },
  giveBack: (sql) => giveBack(sql, { runId: aRun, limit: 10 }),
  touch: async (sql, random) => {
    const ids = (await someIds(sql, 5)).map(({ id }) => id)
    if (random.pick(['dead', 'delete'] as const) === 'dead') await markDead(sql, ids)
    else await deleteMessages(sql, { ids, archived: false })
  },
  lease: (sql) =>
    sql`update dlq.dlq_messages set status = 'RETRYING', retry_count = 1, lease_until = now() - interval '1 s', lease_slot = null
        where id in (${someIds(sql, 5)})`,
  releaseLeases: (sql) => releaseExpiredLeases(sql, { limit: 10 }),
  restore: async (sql) => {
    const rows = await sql<{ id: string }[]>`select id from dlq.dlq_messages_archive order by random() limit 5`
    await restoreArchived(
      sql,
      rows.map(({ id }) => id),
    )
  },
  severalAtOnce: (sql, random) =>
    sql`with gone as (delete from dlq.dlq_messages where id in (${someIds(sql, 4)}) returning *),
             more as (insert into dlq.dlq_messages (original_topic, error_message) select ${random.pick(topics)}, 'of gone' from gone),
             less as (update dlq.dlq_messages m set status = 'DEAD' where id in (${someIds(sql, 4)}) returning 1)
        insert into dlq.dlq_messages (original_topic, error_message, status) select original_topic, 'back', 'RESOLVED' from gone`,
  merge: (sql, random) =>
    sql`merge into dlq.dlq_messages m using (${someIds(sql, 8)}) chosen on chosen.id = m.id
        when matched and m.status = 'DEAD' then delete
        when matched then update set status = ${random.pick(statuses)}`,
  ofOnePartition: (sql, random) => {
    const partition = sql(monthName(random.pick(passingMonths)))
    return random.next() < 0.5
      ? sql`update ${partition} set status = ${random.pick(statuses)}`
      : sql`delete from ${partition} where random() < 0.3`
  },
  truncatePartition: (sql, random) => sql`truncate ${sql(monthName(random.pick(passingMonths)))}`,
  fullCount: async (sql) => {
    // The nightly full count. Any drift would be stored, and fail the test at its end.
    const drift = await reconcileSummary(sql)
    if (drift) throw new Error(`the counts were wrong by ${drift}`)
  },
}
const rare = new Set(['truncatePartition', 'fullCount'])
const often = Object.keys(operations).filter((name) => !rare.has(name))

class TakeBack extends Error {}

/** Faults that concurrency causes: deadlocks, a partition that is gone or locked, an id that is taken. */
const expectedFaults = /^(40P01|40001|23505|23514|42P01|55P03)$/

async function inTransaction(sql: ReturnType<typeof connectAsService>, random: Random, ran: Map<string, number>) {
  const names = Array.from({ length: 1 + random.below(3) }, () =>
    random.next() < 0.02 ? random.pick([...rare]) : random.pick(often),
  )
  const run = async (sql: Transaction, name: string) => {
    await operations[name]!(sql, random)
    ran.set(name, (ran.get(name) ?? 0) + 1)
  }
  await sql
    .begin(async (sql) => {
      for (const name of names) {
        if (random.next() < 0.2) {
          await sql
            .savepoint(async (sql) => {
              await run(sql, name)
              throw new TakeBack()
            })
            .catch(acceptExpected)
        } else await run(sql, name)
      }
      if (random.next() < 0.2) throw new TakeBack()
    })
    .catch(acceptExpected)
  return names.length
}

function acceptExpected(error: Error & { code?: string }) {
  if (error instanceof TakeBack || expectedFaults.test(error.code ?? '')) return
  throw error
}

test('counts equal count(*) in the same snapshot, during all concurrent changes', async () => {
  const seed = Number(process.env.DLQ_SEED ?? Math.floor(Math.random() * 2 ** 31))
  // There are many deadlocks here, and each would wait for a second.
  await database.sql`alter database ${database.sql(new URL(database.url).pathname.slice(1))} set deadlock_timeout to '20ms'`
  const sql = connectAsService(database.url)
  const ran = new Map<string, number>()
  let done = 0
  let over = false
  let folded = 0
  const fold = async () => {
    while (!over) {
      const count = await foldSummary(sql, { limit: 50 })
      folded += count ?? 0
      await sleep(1)
    }
  }
  const passPartitions = async () => {
    const random = createRandom(seed + 1000)
    while (!over) {
      await sql.unsafe('call dlq.archive_old_dlq_messages(30, 5)').catch(acceptExpected)
      const month = random.pick(passingMonths)
      await sql`select dlq.create_message_partition(${`2031-0${month}-01T00:00:00Z`})`.catch(acceptExpected)
      await sleep(20)
      if (random.next() < 0.5)
        await sql`select dlq.drop_message_partition(${monthName(month)}::regclass)`.catch(acceptExpected)
    }
  }
  const operate = async (connection: number) => {
    const random = createRandom(seed + connection)
    // Goes on beyond the number where chance has left an operation out.
    while (done < operationCount || ran.size < Object.keys(operations).length) {
      const count = await inTransaction(sql, random, ran)
      done += count
    }
  }
  const wrong: unknown[] = []
  let moments = 0
  let mostKinds = 0
  const compare = () =>
    sql.begin('isolation level repeatable read', async (sql) => {
      // Before the snapshot is taken: a truncate or drop that commits after it would empty the table for it too.
      await sql`lock table dlq.dlq_messages in access share mode`
      const counted = await sql`
        select dlq_topic, original_topic, consumer_group, group_id, status, count(*)::float8 as count
        from dlq.dlq_messages group by 1, 2, 3, 4, 5`
      const countedWithoutGroups = await sql`
        select dlq_topic, original_topic, consumer_group, status, count(*)::float8 as count
        from dlq.dlq_messages group by 1, 2, 3, 4`
      const totals = await sql`
        select dlq_topic, original_topic, consumer_group, status, sum(count)::float8 as count
        from ${lines(sql)} group by 1, 2, 3, 4 having sum(count) <> 0`
      const countedOfGroups = await sql`
        select group_id, count(*) filter (where status = 'PENDING')::float8 as pending, count(*) filter (where status = 'RETRYING')::float8 as retrying,
               count(*) filter (where status = 'RESOLVED')::float8 as resolved, count(*) filter (where status = 'DEAD')::float8 as dead
        from dlq.dlq_messages where group_id is not null group by group_id`
      const ofGroups = await sql`
        select group_id, sum(pending)::float8 as pending, sum(retrying)::float8 as retrying, sum(resolved)::float8 as resolved, sum(dead)::float8 as dead
        from ${groupLines(sql)} group by group_id having sum(pending + retrying + resolved + dead) <> 0`
      mostKinds = Math.max(mostKinds, counted.length)
      const textOf = (rows: readonly object[]) => String(rows.map((row) => Object.values(row).join('|')).toSorted())
      if (textOf(await listCounts(sql)) !== textOf(counted)) wrong.push({ moment: moments, done })
      if (textOf(totals) !== textOf(countedWithoutGroups)) wrong.push({ moment: moments, done, of: 'totals' })
      if (textOf(ofGroups) !== textOf(countedOfGroups)) wrong.push({ moment: moments, done, of: 'groups' })
      moments += 1
    })
  const watch = async () => {
    while (moments < momentCount) {
      // Spread over the whole run, and the rest of them at its end.
      if (done < operationCount && done < (operationCount * moments) / momentCount) await sleep(5)
      else await compare()
    }
  }
  try {
    // The overflow partition begins behind the passing months: so each of them can have a partition of its own.
    await database.sql`select dlq.create_message_partitions(0, '2031-05-01')`
    await sql`select dlq.create_message_partition(${'2031-01-01T00:00:00Z'})`
    const background = [fold(), passPartitions()]
    try {
      await Promise.all([watch(), ...Array.from({ length: connectionCount }, (_, at) => operate(at))])
    } finally {
      over = true
      done = operationCount
      moments = momentCount
      await Promise.all(background)
    }
    await compare()
    expect(wrong, `seed ${seed}`).toEqual([])
    expect([...ran.keys()].toSorted()).toEqual(Object.keys(operations).toSorted())
    expect(folded).toBeGreaterThan(operationCount / 10)
    expect(mostKinds).toBeGreaterThan(20)
    expect(await getSummaryState(sql)).toMatchObject({ drift: 0 })
  } finally {
    await sql.end({ timeout: 5 })
  }
})
