// dlq_deferred_payloads: what a partition's range covers.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { greatestId, smallestId } from '../../domain/record/message-id.ts'
import { deferPayloads, lockDeferred, lockUnprojected, shortenDeferred } from './deferred-payloads.ts'

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

test('the payload of a message is stored later where it has none, and could have one', async () => {
  const record_value = Buffer.from('{"a":1}')
  const id = await insertMessageRow(database.sql, { record_value })
  for (const row of [
    ...[{ payload: { a: 1 } }, { decode_state: 1 }, { record_value: null }, { record_value: Buffer.alloc(0) }],
    { record_value: Buffer.alloc(2000) },
  ])
    await insertMessageRow(database.sql, { record_value, ...row })
  const range = { from: smallestId, until: greatestId }
  const found = await service.sql.begin((sql) => lockUnprojected(sql, { ...range, examine: 100, maxBytes: 1000 }))
  expect([found.messages.map((message) => message.id), found.last]).toEqual([[id], null])
})
