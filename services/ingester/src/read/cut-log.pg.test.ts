// Where reading goes on after an election that has lost records.
import { listPositions, movePosition, resetPosition } from 'dlq-core/queries/ingest/positions.ts'
import type { EpochEnd } from 'dlq-core/runtime/kafka/questions/fetch-epoch-end.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test, vi } from 'vitest'
import { readFromCut } from './cut-log.ts'

const service = useServiceDatabase(useDatabase())
const place = { cluster: 'c', topic: 'orders.dlq.v1', partition: 0 }
const cut = vi.fn()

beforeEach(async () => {
  cut.mockClear()
  await resetPosition(service.sql, { ...place, next_offset: 30n })
  await movePosition(service.sql, { ...place, next_offset: 30n, leader_epoch: 3 })
})

/** Asks once. `end`: what Kafka answers. */
function ask(end: EpochEnd | null, seen = { seenOffset: 30n, epoch: 3 as number | null }) {
  const log = createLog({ service: 'ingester', level: 'silent' })
  return readFromCut(
    { sql: service.sql, reader: { fetchEpochEnd: async () => end }, log, metrics: { cut } },
    place,
    seen,
  )
}

async function position(): Promise<bigint | undefined> {
  const [row] = await listPositions(service.sql, { cluster: 'c', topics: [place.topic] })
  return row?.next_offset
}

test('a log that ends below the position is read from its end', async () => {
  expect(await ask({ epoch: 2, offset: 20n })).toBe(20n)
  expect(await position()).toBe(20n)
  expect(cut.mock.calls).toEqual([[place.topic]])
})

test('where another ingester has moved the position, it is read from there too, and counted once', async () => {
  await movePosition(service.sql, { ...place, next_offset: 25n, leader_epoch: 4 })
  expect(await ask({ epoch: 2, offset: 20n })).toBe(20n)
  expect(await position()).toBe(25n)
  expect(cut).not.toHaveBeenCalled()
})

test.each([
  ['ends at the position', { epoch: 3, offset: 30n }, 3],
  ['goes on behind it', { epoch: 3, offset: 90n }, 3],
  ['has no such epoch any more', null, 3],
  ['was read without its epochs', { epoch: 2, offset: 20n }, null],
])('a log that %s is not cut', async (_, end, epoch) => {
  expect(await ask(end, { seenOffset: 30n, epoch })).toBeNull()
  expect(await position()).toBe(30n)
  expect(cut).not.toHaveBeenCalled()
})
