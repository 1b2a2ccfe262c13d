// dlq_deferred_payloads: what a partition's range covers.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { deferPayloads, lockDeferred, shortenDeferred } from './deferred-payloads.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const place = { cluster: 'c', topic: 'orders.dlq.v1', partition: 0 }
const id = (n: number) => `019c7aa5-0000-7000-8000-00000000000${n}`

test('a range covers all messages that were stored without their payload, whatever the order of their ids', async () => {
  for (const [from, until] of [
    [4, 5],
    [2, 8],
    [6, 7],
  ] as const)
    await deferPayloads(service.sql, { ...place, from: id(from), until: id(until) })
  const locked = () => lockDeferred(service.sql, { quietMs: 0 })
  expect(await locked()).toEqual({ ...place, from: id(2), until: id(8) })
  expect(await lockDeferred(service.sql, { quietMs: 60_000 })).toBeNull()
  await shortenDeferred(service.sql, { ...place, last: id(4) })
  expect(await locked()).toEqual({ ...place, from: id(4), until: id(8) })
  await shortenDeferred(service.sql, { ...place, last: null })
  expect(await locked()).toBeNull()
})
