// An ingester freezes while it holds a batch, as in a paused container, and wakes after others have stored that batch.
// Ids prevent doubles. It must not store again rows that were deleted meanwhile, and must not change counts.
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { freezeProcess } from 'dlq-testing/process/process-tree.ts'
import { expect, test } from 'vitest'

const each = 20
const partitions = 2
const fleet = useFleet('frozen', { partitions, env: { DLQ_RETRY_AUTO_RETRY: 'false' } })

async function send(label: string): Promise<void> {
  const messages = Array.from({ length: each * partitions }, (_, n) => ({
    partition: n % partitions,
    value: `${label} ${n}`,
    headers: { error: `${label} failed` },
  }))
  await fleet.producer.send({ topic: fleet.dlq, messages })
}

async function untilRows(count: number): Promise<void> {
  const { sql } = fleet.database
  const rows = () => sql`select id from dlq.dlq_messages`
  await eventually(async () => expect(await rows()).toHaveLength(count))
}

/** Ingesters' statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  const [row] = await fleet.database.sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'dlq-ingester' and wait_event_type = 'Lock'`
  return row!.count
}

/** Batches that the ingester has finished storing, or tried to. */
async function countBatches(instance: string): Promise<number> {
  const metrics = await (await fetch(`${fleet.services.get(instance).url}/metrics`)).text()
  return Number(/^dlq_ingest_batch_seconds_count (\d+)$/m.exec(metrics)?.[1])
}

test('an ingester that froze past its session wakes with a batch that others have stored, and writes none of it', async () => {
  const { sql } = fleet.database
  await fleet.services.start('ingester', 'frozen')
  await send('first')
  await untilRows(each * partitions)
  const batchesBefore = await countBatches('frozen')

  let resume: (() => void) | undefined
  try {
    await sql.begin(async (sql) => {
      // No new error group can be created now. The ingester creates them before the transaction that stores a batch.
      await sql`lock table dlq.dlq_groups in share mode`
      await send('second')
      // One for each partition, or one for both: small batches are stored together.
      await eventually(async () => expect(await countWaiting()).toBeGreaterThan(0), { intervalMs: 20 })
      resume = freezeProcess(fleet.services.get('frozen').pid)
    })
    await fleet.services.start('ingester', 'awake')
    await untilRows(2 * each * partitions)
    const deleted = await sql`
      delete from dlq.dlq_messages where convert_from(record_value, 'UTF8') like 'second%' and dlq_offset % 2 = 0 returning id`
    expect(deleted).toHaveLength((each * partitions) / 2)

    resume!()
    const woken = batchesBefore + partitions
    const batches = () => countBatches('frozen')
    await eventually(async () => expect(await batches()).toBe(woken))
    await untilRows((3 * each * partitions) / 2)
    // It has joined again, and stores every record that arrives now.
    await send('third')
    await untilRows((5 * each * partitions) / 2)
    const positions = await sql<{ next_offset: string }[]>`select next_offset from dlq.dlq_positions`
    expect(positions.map(({ next_offset }) => Number(next_offset))).toEqual([3 * each, 3 * each])
  } finally {
    resume?.()
  }
})
