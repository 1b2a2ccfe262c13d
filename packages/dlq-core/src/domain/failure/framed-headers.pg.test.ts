// dlq.whole_headers is the inverse of frameHeaders.

import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeHeaders, type StoredHeader, storedHeaders } from '../record/header-json.ts'
import type { Header } from '../record/record.ts'
import { type FramedColumns, type FramedHeaders, frameHeaders } from './framed-headers.ts'
import { framesId } from './stack-frames.ts'

const database = useDatabase()

async function readBack(framed: FramedHeaders, columns: FramedColumns): Promise<string> {
  const id = framesId([], framed.template)
  await database.sql`
    insert into dlq.dlq_stack_frames (id, frames, headers, topic) values (${id}, '{}', ${framed.template}::text::json, 't')
    on conflict do nothing`
  const [row] = await database.sql<[{ whole: string }]>`
    select dlq.whole_headers(${framed.stored}::text::json, ${id}, ${columns.error_message}, ${columns.original_partition},
      ${columns.original_offset === null ? null : String(columns.original_offset)}::text::bigint)::text as whole`
  return row.whole
}

// A real framework's names, and any others; names of classes long enough for a template.
const name = fc.oneof(
  fc.constantFrom(
    ...['kafka_dlt-original-topic', 'kafka_dlt-original-offset', 'kafka_dlt-exception-message', 'traceparent', ''],
    ...['__connect.errors.class.name', '__connect.errors.exception.message', 'dlq-message-id', 'retry_topic-attempts'],
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const message = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replaceAll('\0', ''))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('{"framed":[1]}', '{"own":"text"}', "Listener method 'x' threw exception; ", 'com.example.Failed'),
)
const value = fc.oneof(
  text.map((value) => Buffer.from(value)),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(null),
)

/** Partition and offset as Spring and as Connect write them. */
function placeHeaders({ original_partition, original_offset }: Omit<FramedColumns, 'error_message'>): Header[] {
  const [partition, offset] = [Buffer.alloc(4), Buffer.alloc(8)]
  partition.writeInt32BE(original_partition ?? 0)
  offset.writeBigInt64BE(original_offset ?? 0n)
  return [
    ['kafka_dlt-original-partition', partition],
    ['kafka_dlt-original-offset', offset],
    ['__connect.errors.partition', Buffer.from(String(original_partition))],
    ['__connect.errors.offset', Buffer.from(String(original_offset))],
  ]
}

test('headers that were taken apart are put together byte for byte, whatever they are', async () => {
  let taken = 0
  const property = fc.asyncProperty(
    fc.array(fc.tuple(name, value), { maxLength: 8 }),
    fc.constantFrom('', 'Listener failed; ', "Listener method 'void a.B.c(D)' threw exception; ", 'other: '),
    message,
    fc.record({
      original_partition: fc.option(fc.nat({ max: 2 ** 31 - 1 })),
      original_offset: fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })),
    }),
    async (drawn, before, message, place) => {
      const row = { error_message: message, ...place }
      const headers: Header[] = [
        ...placeHeaders(place),
        ...drawn.slice(0, 3),
        ['kafka_dlt-exception-fqcn', Buffer.from(`com.example.${'deep.'.repeat(50)}Failed`)],
        ['kafka_dlt-exception-message', Buffer.from(before + message)],
        ...drawn.slice(3),
      ]
      const framed = frameHeaders(storedHeaders(headers), row)
      if (framed === null) return
      taken++
      expect(decodeHeaders(await readBack(framed, row))).toEqual(headers)
    },
  )
  await fc.assert(property, { numRuns: 300 })
  expect(taken).toBeGreaterThan(200)
})

test('headers that have no template stay as they are, and where it was lost, the others are left', async () => {
  const whole: StoredHeader[] = [['a', '{"framed":["x"]}']]
  const stored = '[["a","b"],{"framed":["x"]}]'
  const [row] = await database.sql<[{ none: string; lost: string; whole: string }]>`
    select dlq.whole_headers(${stored}::text::json, null, 'm', 1, 2)::text as none,
           dlq.whole_headers(${stored}::text::json, gen_random_uuid(), 'm', 1, 2)::text as lost,
           dlq.whole_headers(${JSON.stringify(whole)}::text::json, ${framesId([], 'x')}, 'm', 1, 2)::text as whole`
  expect(row).toEqual({ none: stored, lost: '[["a","b"]]', whole: JSON.stringify(whole) })
})
