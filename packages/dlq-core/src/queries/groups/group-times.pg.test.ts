// Since when and until when groups failed: what messages know beyond the times of the groups.

import { randomUUID } from 'node:crypto'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { blocksOf, nodesOf, partitionsWithRows, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { deriveMessageId } from '../../domain/record/message-id.ts'
import { statuses } from '../../domain/retry/message-state.ts'
import { failureTimes } from './group-times.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const noon = Date.parse('2026-02-20T12:00:00.000Z')
const at = (minutes: number) => new Date(noon + minutes * 60_000)
let offset = 0n
/** A message whose record was written so many minutes after noon, and stored a minute later. */
function insert(group_id: string, minutes: number, columns: object = {}) {
  offset += 1n
  const place = { cluster: 'c', topic: 't', partition: 0, offset, timestamp: BigInt(at(minutes).getTime()) }
  const times = { record_timestamp: at(minutes), created_at: at(minutes + 1) }
  return insertMessageRow(database.sql, { id: deriveMessageId(place), group_id, ...times, ...columns })
}
async function timesOf(id: string, [first, last]: [number, number], scope: string[] | null = null) {
  const group = { id, first_seen_at: at(first), last_seen_at: at(last), statuses }
  return (await failureTimes(service.sql, { groups: [group], scope })).get(id)
}

test('are those of the first and the last record, in any status and any month', async () => {
  const id = randomUUID()
  await insert(id, -200_000, { status: 'RESOLVED' })
  await insert(id, 0)
  await insert(id, 100_000, { status: 'DEAD' })
  expect(await timesOf(id, [-10, 10])).toEqual({ first: at(-200_000), last: at(100_000) })
  expect(await timesOf(randomUUID(), [-10, 10])).toBeUndefined()
})

test('are found to the millisecond beside the known ones', async () => {
  const id = randomUUID()
  await insert(id, -10)
  await insert(id, 10)
  const aMillisecond = 1 / 60_000
  expect(await timesOf(id, [-10 + aMillisecond, 10 - aMillisecond])).toEqual({ first: at(-10), last: at(10) })
  expect(await timesOf(id, [-11, 11])).toBeUndefined()
})

test('are of messages in the scope', async () => {
  const id = randomUUID()
  await insert(id, -30, { original_topic: 'orders' })
  await insert(id, -20, { original_topic: 'pay.in' })
  await insert(id, 20, { original_topic: 'pay.in' })
  await insert(id, 30, { original_topic: 'orders' })
  expect(await timesOf(id, [0, 0], ['pay.*'])).toEqual({ first: at(-20), last: at(20) })
  expect(await timesOf(id, [0, 0], ['other'])).toBeUndefined()
})

describe('along the index of groups, in the months that may have some', () => {
  const id = randomUUID()
  const group = {
    id,
    first_seen_at: new Date(Date.now() - 86_400_000),
    last_seen_at: new Date(Date.now() + 70 * 86_400_000),
    statuses,
  }

  beforeAll(async () => {
    await database.sql`
      insert into dlq.dlq_messages (id, original_topic, error_message, group_id)
      select (left(dlq.uuid_floor(now() + n % 3 * interval '1 month')::text, 13) || '-7' || right(gen_random_uuid()::text, 21))::uuid,
             'orders', 'failed', case when n % 100 = 0 then ${id}::uuid else gen_random_uuid() end
      from generate_series(1, 9000) n`
    await database.sql`vacuum analyze dlq.dlq_messages`
  })

  test.each(planCacheModes)('with %s', async (mode) => {
    const plans = await plansOf(database.url, mode, (sql) => failureTimes(sql, { groups: [group], scope: null }))
    const filled = await partitionsWithRows(database.sql)
    const onFilled = plans.flatMap(nodesOf).filter((node) => filled.includes(node['Relation Name'] ?? ''))
    expect(filled.length).toBeGreaterThanOrEqual(3)
    expect(new Set(onFilled.map((node) => node['Node Type']))).toEqual(new Set(['Index Scan']))
    expect(onFilled.filter((node) => !/_group_id_status_id_idx$/.test(node['Index Name'] ?? ''))).toEqual([])
    // All months are in the plan; each end reads at most its own.
    expect(onFilled.reduce((sum, node) => sum + blocksOf(node), 0)).toBeLessThan(40)
  })
})
