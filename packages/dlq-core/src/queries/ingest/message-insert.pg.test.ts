// A row has the bytes of its record, and a retry sends the same bytes.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { toRepublishedRecord } from '../../../../../services/retrier/src/publish/republished-record.ts'
import { readFailure } from '../../domain/failure/read-failure.ts'
import { stripFailureHeaders } from '../../domain/failure/strip-failure-headers.ts'
import { readDeadLetter } from '../../domain/message/new-message.ts'
import { decodeHeaders } from '../../domain/record/header-json.ts'
import { deriveMessageId } from '../../domain/record/message-id.ts'
import type { DeadLetterRecord, Header } from '../../domain/record/record.ts'
import { defaultRetryPolicy } from '../../domain/retry/retry-policy.ts'
import { copyMessages, insertMessages } from './message-insert.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages')
})

const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: ['*.dlq.v1'] }

const bytes = fc.oneof(
  fc.constant(null),
  fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text)),
  fc.json({ maxDepth: 2 }).map((json) => Buffer.from(json)),
  fc
    .constantFrom(
      '',
      '\0',
      '\\N',
      '\\x00',
      '\ufeff{}',
      '"\\u0000"',
      '"\\ud800"',
      '1e400',
      '{"column":"error_stacktrace"}',
      '[["a","b"]]',
    )
    .map((text) => Buffer.from(text)),
)
const stacktrace = fc
  .array(fc.constantFrom('java.lang.Error: x', '\tat A.b(C.java:1)', 'Caused by: Y: "z"\\', '\0', '語'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((lines) => Buffer.from(lines.join('\n').repeat(3)))
const header: fc.Arbitrary<Header> = fc.oneof(
  fc.tuple(fc.string({ unit: 'binary', maxLength: 12 }), bytes),
  fc.tuple(
    fc.constantFrom(
      'kafka_dlt-exception-stacktrace',
      'dlq-error-stacktrace',
      '__connect.errors.exception.stacktrace',
      'x-trace',
    ),
    fc.oneof(stacktrace, bytes),
  ),
  fc.tuple(
    fc.constantFrom(
      'error',
      'dlq-original-topic',
      'dlq-error-message',
      'dlq-original-offset',
      'dlq-consumer-group',
      'kafka_dlt-original-topic',
      'kafka_dlt-original-timestamp',
      '__connect.errors.topic',
      '__connect.errors.exception.message',
      'dead-letter-topic',
      'dead-letter-reason',
      'x-original-topic',
      'traceparent',
      '__proto__',
    ),
    bytes,
  ),
)
const record = fc.record({
  timestamp: fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: 4_102_444_800_000n, max: 253_402_300_799_999n }),
    fc.constantFrom(-1n, 0n, 1_771_583_400_000n),
  ),
  key: bytes,
  value: bytes,
  headers: fc.array(header, { maxLength: 8 }),
})

/** Only times that have a partition from the start. The ingester creates the partitions in between. */
function hasPartition({ timestamp }: { timestamp: bigint }): boolean {
  return timestamp < BigInt(Date.now()) || timestamp >= 4_102_444_800_000n
}

function placed(
  records: readonly Pick<DeadLetterRecord, 'timestamp' | 'key' | 'value' | 'headers'>[],
  topic: string,
): DeadLetterRecord[] {
  return records.map((record, offset) => ({ ...record, cluster: 'c', topic, partition: 0, offset: BigInt(offset) }))
}

type StoredRow = {
  id: string
  record_key: Buffer | null
  record_value: Buffer | null
  record_headers: string
  error_stacktrace: string | null
}

async function readBack(topic: string): Promise<StoredRow[]> {
  return service.sql<StoredRow[]>`
    select id, record_key, record_value, record_headers, error_stacktrace from dlq.dlq_messages where dlq_topic = ${topic} order by dlq_offset`
}

describe.each([
  ['COPY', copyMessages],
  ['INSERT', insertMessages],
])('records stored by %s', (_, storeMessages) => {
  test('are read back and retried byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record.filter(hasPartition), { minLength: 1, maxLength: 25 }), async (contents) => {
        const records = placed(contents, `${randomUUID()}.dlq.v1`)
        const letters = records.map((record) => readDeadLetter(record, settings, new Date(), 0))
        await service.sql.begin((sql) =>
          storeMessages(
            sql,
            letters.map(({ message }) => message),
          ),
        )

        const rows = await readBack(records[0]!.topic)
        expect(rows.map(({ id }) => id)).toEqual(records.map((record) => deriveMessageId(record)))
        expect(
          rows.map((row) => ({
            key: row.record_key,
            value: row.record_value,
            headers: decodeHeaders(row.record_headers, { error_stacktrace: row.error_stacktrace }),
          })),
        ).toEqual(records.map(({ key, value, headers }) => ({ key, value, headers })))

        await service.sql`update dlq.dlq_messages set status = 'PENDING', next_retry_at = now(), max_retries = 9 where dlq_topic = ${records[0]!.topic}`
        const claimed = new Map(
          (await claimDue(service.sql).then(({ messages }) => messages)).map((message) => [message.id, message]),
        )
        for (const record of records) {
          const { key, value, headers } = toRepublishedRecord(claimed.get(deriveMessageId(record))!)
          const { family } = readFailure(record)
          expect({ key, value, headers: headers.slice(0, -3) }).toEqual({
            key: record.key,
            value: record.value,
            headers: stripFailureHeaders(record.headers, family),
          })
          expect(headers.slice(-3).map(([name]) => name)).toEqual(['dlq-message-id', 'dlq-attempt', 'dlq-attempt-id'])
        }
      }),
      { numRuns: process.env.DLQ_SOAK === '1' ? 2000 : 40 },
    )
  })
})

test('an insert skips a message whose id is stored already, and a copy refuses it', async () => {
  const [record] = placed([{ timestamp: 0n, key: null, value: null, headers: [] }], 'orders.dlq.v1')
  const { message } = readDeadLetter(record!, settings, new Date(), 0)
  expect(await insertMessages(service.sql, [message])).toBe(1)

  expect(await insertMessages(service.sql, [{ ...message, error_message: 'other' }])).toBe(0)
  await expect(service.sql.begin((sql) => copyMessages(sql, [message]))).rejects.toThrow()
  const [row] = await service.sql`select error_message from dlq.dlq_messages`
  expect(row!.error_message).toBe('unknown error')
})
