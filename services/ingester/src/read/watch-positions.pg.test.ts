import { movePosition, resetPosition } from 'dlq-core/queries/ingest/positions.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { createPositionWatch } from './watch-positions.ts'

const service = useServiceDatabase(useDatabase())
const log = createLog({ service: 'ingester', level: 'silent' })
const cluster = 'c'
const topic = 'orders.dlq.v1'

function watched() {
  const sought: { topic: string; partition: number; offset: string }[] = []
  let behind = 0
  const watch = createPositionWatch({
    ...{ sql: service.sql, log, cluster },
    consumer: { seek: (place) => void sought.push(place) },
    onBehind: () => {
      behind += 1
    },
  })
  return { watch, sought, countBehind: () => behind }
}

const set = (partition: number, next_offset: bigint) =>
  resetPosition(service.sql, { cluster, topic, partition, next_offset })

test('a partition whose position went back is read again from there, once', async () => {
  const { watch, sought, countBehind } = watched()
  for (const partition of [0, 1]) {
    await set(partition, 10n)
    watch.stored({ topic, partition }, 10n)
  }
  await watch.look()
  expect(sought).toEqual([])
  expect(countBehind()).toBe(0)

  await set(1, 4n)
  await watch.look()
  await watch.look()
  expect(sought).toEqual([{ topic, partition: 1, offset: '4' }])
  expect(countBehind()).toBe(1)
})

test('a position that the database does not know at all begins at 0', async () => {
  const { watch, sought } = watched()
  watch.stored({ topic, partition: 7 }, 3n)
  await watch.look()
  expect(sought).toEqual([{ topic, partition: 7, offset: '0' }])
})

test('a position ahead is that of another ingester, and what is not ours any more is not looked at', async () => {
  const { watch, sought } = watched()
  await set(0, 10n)
  watch.stored({ topic, partition: 0 }, 10n)
  await movePosition(service.sql, { cluster, topic, partition: 0, next_offset: 12n })
  await watch.look()
  await set(0, 2n)
  watch.forget()
  await watch.look()
  expect(sought).toEqual([])
})
