// Stack traces of stored dead letters: their frames are stored once, and everybody reads them whole.

import { decodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { getMessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import { archiveMessages, restoreArchived } from 'dlq-core/queries/upkeep/archive.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { storeBatch } from '../store/store-batch.ts'
import { batchOf, recordAt, refailureAt, storeDeps } from '../store/test-batch.ts'
import { createFramesRegister } from './frames-register.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const header = 'dlq-error-stacktrace'

function frames(name: string): string {
  return Array.from({ length: 30 }, (_, at) => `\tat com.example.${name}.step${at}(Step.java:${at})\n`).join('')
}

const traceOf = (offset: number, name = 'orders') =>
  `com.example.Failed: listener failed\n${frames(name)}Caused by: com.example.OutOfStock: order ${offset}\n${frames(`${name}.shop`)}`

const record = (offset: number, name?: string) => recordAt(offset, { headers: { [header]: traceOf(offset, name) } })

const read = async (offset: number) => {
  const [row] = await database.sql<
    { id: string; error_stacktrace: string; frames_id: string | null; whole: string; record_headers: string }[]
  >`
    select id, error_stacktrace, frames_id, dlq.stack_trace(m) as whole, record_headers::text
    from dlq.dlq_messages m where dlq_offset = ${offset}`
  return row!
}
const countFrames = async () => {
  const [row] = await database.sql<{ count: number }[]>`select count(*)::int as count from dlq.dlq_stack_frames`
  return row!.count
}

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'dlq.dlq_positions',
    'dlq.dlq_messages',
    'dlq.dlq_messages_archive',
    'dlq.dlq_stack_frames',
  )
})

/** A failure as Spring writes it. */
const springRecord = (offset: number, { group = 'order-service' } = {}) => {
  const message = `order ${offset} is gone`
  const wrapper = "Listener method 'public void com.example.Orders.on(Record<byte[]>)' threw exception"
  const wrapped = 'org.springframework.kafka.listener.ListenerExecutionFailedException'
  const number = Buffer.alloc(8)
  number.writeBigInt64BE(BigInt(offset))
  return recordAt(offset, {
    headers: {
      traceparent: `00-${String(offset).padStart(32, '0')}-00f067aa0ba902b7-01`,
      'kafka_dlt-original-topic': 'orders',
      'kafka_dlt-original-partition': number.subarray(4),
      'kafka_dlt-original-offset': number,
      'kafka_dlt-original-consumer-group': group,
      'kafka_dlt-exception-fqcn': wrapped,
      'kafka_dlt-exception-cause-fqcn': 'com.example.Gone',
      'kafka_dlt-exception-message': `${wrapper}; ${message}`,
      'kafka_dlt-exception-stacktrace':
        `${wrapped}: ${wrapper}\n${frames('spring')}` +
        `Caused by: com.example.Gone: ${message}\n${frames('orders')}Caused by: java.io.IOException: ${offset}\n${frames('io')}`,
    },
  })
}

describe('headers that a framework writes the same for each failure', () => {
  const wholeHeaders = async (offset: number) => {
    const [row] = await database.sql<{ headers: string; trace: string; stored: string; frames: string | null }[]>`
      select dlq.record_headers(m)::text as headers, dlq.stack_trace(m) as trace, record_headers::text as stored, frames_id as frames
      from dlq.dlq_messages m where dlq_offset = ${offset}`
    return row!
  }
  const decoded = ({ headers, trace }: { headers: string; trace: string }) =>
    decodeHeaders(headers, { error_stacktrace: trace })

  test('are stored once with the frames, and read as they came', async () => {
    const records = [0, 1, 2].map((offset) => springRecord(offset))
    await storeBatch(storeDeps(service.sql), batchOf(records))

    expect(await countFrames()).toBe(1)
    for (const offset of [0, 1, 2]) {
      const row = await wholeHeaders(offset)
      expect(JSON.parse(row.stored)).toEqual([
        ...records[offset]!.headers.slice(0, 4).map(([name, value]) => [name, String(value)]),
        { framed: [] },
      ])
      expect((await read(offset)).error_stacktrace).toBe(`\t⋮\n${offset}\n\t⋮\n`)
      expect(decoded(row)).toEqual(records[offset]!.headers)
      const detail = await getMessageDetail(service.sql, { id: (await read(offset)).id, scope: null })
      expect(decodeHeaders(detail!.record_headers!, { error_stacktrace: detail!.error_stacktrace })).toEqual(
        records[offset]!.headers,
      )
    }
  })

  test('are whole where their names vary, and the trace’s frames are still shared', async () => {
    const records = [0, 1, 2].map((offset) => springRecord(offset, { group: `group-${offset}` }))
    await storeBatch(storeDeps(service.sql), batchOf(records))
    const rows = [await wholeHeaders(1), await wholeHeaders(2)]
    expect(rows.map(({ stored }) => stored.includes('framed'))).toEqual([false, false])
    expect(new Set(rows.map(({ frames }) => frames)).size).toBe(1)
    expect(rows[0]!.frames).not.toBeNull()
    expect(decoded(rows[1]!)).toEqual(records[2]!.headers)
  })

  test.each([
    ['its message', { error_message: 'another' }],
    ['its class', { error_class: 'com.example.Other' }],
    ['where it was', { original_offset: 99n, original_partition: 9 }],
    ['its stack trace', { error_stacktrace: 'another' }],
  ])('stay as they came where somebody changes %s', async (_, change) => {
    const records = [0, 1].map((offset) => springRecord(offset))
    await storeBatch(storeDeps(service.sql), batchOf(records))
    const before = await wholeHeaders(1)
    await database.sql`update dlq.dlq_messages set ${database.sql(change)} where dlq_offset = 1`
    const after = await wholeHeaders(1)
    expect(after.frames).toBeNull()
    expect(decoded(after)).toEqual(records[1]!.headers)
    expect(after.trace).toBe('error_stacktrace' in change ? 'another' : before.trace)
  })

  test.each([
    ['message', { error_message: 'another' }],
    ['stack trace', { error_stacktrace: 'another' }],
  ])(
    'stay as they came where they came without a stack trace, and somebody gives them another %s',
    async (_, change) => {
      const records = [0, 1].map((offset) => {
        const { headers, ...record } = springRecord(offset)
        return { ...record, headers: headers.filter(([name]) => name !== 'kafka_dlt-exception-stacktrace') }
      })
      await storeBatch(storeDeps(service.sql), batchOf(records))
      expect((await wholeHeaders(1)).stored).toContain('framed')
      await database.sql`update dlq.dlq_messages set ${database.sql(change)} where dlq_offset = 1`
      const { headers, frames } = await wholeHeaders(1)
      expect(frames).toBeNull()
      expect(decodeHeaders(headers)).toEqual(records[1]!.headers)
    },
  )

  test('are read, and changed, as they came where a name of them holds a NUL', async () => {
    const records = [0, 1].map((offset) => {
      const { headers, ...record } = springRecord(offset)
      return { ...record, headers: [...headers, ['kafka_dlt-\0', Buffer.from('x')] as const] }
    })
    await storeBatch(storeDeps(service.sql), batchOf(records))
    expect(decoded(await wholeHeaders(1))).toEqual(records[1]!.headers)
    // As a re-failure changes it.
    await database.sql`update dlq.dlq_messages set error_message = 'another', error_stacktrace = 'another' where dlq_offset = 1`
    expect(decoded(await wholeHeaders(1))).toEqual(records[1]!.headers)
  })

  test('are gone where somebody empties them, with everything else', async () => {
    await storeBatch(storeDeps(service.sql), batchOf([springRecord(0), springRecord(1)]))
    await database.sql`
      update dlq.dlq_messages set record_headers = null, error_message = 'erased', error_stacktrace = null`
    expect(await wholeHeaders(1)).toEqual({ headers: null, trace: null, stored: null, frames: null })
  })

  test('are whole after the archive and back', async () => {
    const records = [springRecord(0), springRecord(1)]
    await storeBatch(storeDeps(service.sql), batchOf(records))
    const { id } = await read(1)
    await database.sql`update dlq.dlq_messages set status = 'DEAD' where id = ${id}`
    await database.sql`select dlq.archive_messages(array[${id}::uuid])`
    const archived = await getMessageDetail(service.sql, { id, scope: null })
    expect(decodeHeaders(archived!.record_headers!, { error_stacktrace: archived!.error_stacktrace })).toEqual(
      records[1]!.headers,
    )
    await database.sql`select dlq.restore_messages(array[${id}::uuid])`
    expect(decoded(await wholeHeaders(1))).toEqual(records[1]!.headers)
  })
})

describe('traces that differ in their messages', () => {
  test('share their frames, and are read as they came, with their headers', async () => {
    const records = [0, 1, 2].map((offset) => record(offset))
    await storeBatch(storeDeps(service.sql), batchOf(records))

    expect(await countFrames()).toBe(1)
    for (const offset of [0, 1, 2]) {
      const row = await read(offset)
      expect(row.whole).toBe(traceOf(offset))
      expect(row.error_stacktrace).toBe(`com.example.Failed: listener failed\n\t⋮\norder ${offset}\n\t⋮\n`)
      const detail = await getMessageDetail(service.sql, { id: row.id, scope: null })
      expect(detail!.error_stacktrace).toBe(traceOf(offset))
      expect(decodeHeaders(detail!.record_headers!, { error_stacktrace: detail!.error_stacktrace })).toEqual(
        records[offset]!.headers,
      )
    }
  })

  test('of the first dead letter stay whole, until their frames come again', async () => {
    const deps = storeDeps(service.sql)
    await storeBatch(deps, batchOf([record(0)]))
    expect(await countFrames()).toBe(0)
    await storeBatch(deps, batchOf([record(1)]))

    expect(await countFrames()).toBe(1)
    expect((await read(0)).frames_id).toBeNull()
    expect((await read(1)).frames_id).not.toBeNull()
  })

  test('are whole in the archive, and when they come back', async () => {
    await storeBatch(storeDeps(service.sql), batchOf([record(0), record(1)]))
    const { id } = await read(1)
    await database.sql`update dlq.dlq_messages set status = 'DEAD', next_retry_at = null where id = ${id}`
    await archiveMessages(service.sql, { ids: [id], now: new Date() })

    const [archived] = await database.sql`select dlq.stack_trace(m) as whole from dlq.dlq_messages_archive m`
    expect(archived!.whole).toBe(traceOf(1))
    expect((await getMessageDetail(service.sql, { id, scope: null }))!.error_stacktrace).toBe(traceOf(1))
    await restoreArchived(service.sql, [id])
    expect((await read(1)).whole).toBe(traceOf(1))
  })
})

describe('another stack trace', () => {
  test('of a re-failure is whole, and the headers keep the first one', async () => {
    const deps = storeDeps(service.sql)
    const first = record(1)
    await storeBatch(deps, batchOf([record(0), first]))
    const id = deriveMessageId(first)
    await database.sql`update dlq.dlq_messages set status = 'RETRYING', retry_count = 1 where id = ${id}`
    await storeBatch(deps, batchOf([refailureAt(2, { id, attempt: 1, headers: { [header]: traceOf(7, 'again') } })]))

    const row = await read(1)
    expect(row).toMatchObject({ frames_id: null, error_stacktrace: traceOf(7, 'again'), whole: traceOf(7, 'again') })
    expect(decodeHeaders(row.record_headers, { error_stacktrace: row.whole })).toEqual(first.headers)
  })

  test('of a re-failure that its place alone gives away is whole, although its frames are known', async () => {
    const deps = storeDeps(service.sql)
    const first = record(1)
    await storeBatch(deps, batchOf([record(0), first]))
    const id = deriveMessageId(first)
    await database.sql`update dlq.dlq_messages set status = 'RETRYING', retry_count = 1 where id = ${id}`
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset)
      values (${id}, 1, gen_random_uuid(), 'published', 'orders.events.v1', 3, 77)`
    const place = { 'dlq-original-partition': '3', 'dlq-original-offset': '77' }
    await storeBatch(deps, batchOf([recordAt(2, { headers: { ...place, [header]: traceOf(7) } }), record(3)]))

    expect(await read(1)).toMatchObject({ frames_id: null, error_stacktrace: traceOf(7), whole: traceOf(7) })
    expect(await read(3)).toMatchObject({ frames_id: expect.any(String), whole: traceOf(3) })
  })

  test('that somebody writes by SQL is what is read, and the headers keep the first one', async () => {
    const first = record(1)
    await storeBatch(storeDeps(service.sql), batchOf([record(0), first]))
    await database.sql`update dlq.dlq_messages set error_stacktrace = 'another' where dlq_offset = 1`

    const row = await read(1)
    expect(row).toMatchObject({ frames_id: null, whole: 'another' })
    expect(decodeHeaders(row.record_headers)).toEqual(first.headers)
  })

  test('is none where only other columns change', async () => {
    await storeBatch(storeDeps(service.sql), batchOf([record(0), record(1)]))
    await database.sql`update dlq.dlq_messages set status = 'DEAD', next_retry_at = null`
    expect(await read(1)).toMatchObject({ frames_id: expect.any(String), whole: traceOf(1) })
  })
})

describe('the table of frames', () => {
  test('takes none of traces that are all different', async () => {
    const records = Array.from({ length: 50 }, (_, offset) => record(offset, `unique${offset}`))
    await storeBatch(storeDeps(service.sql), batchOf(records))
    expect(await countFrames()).toBe(0)
  })

  test('takes a bounded number of a topic, and what is beyond stays in its rows', async () => {
    await database.sql`
      insert into dlq.dlq_stack_frames (id, frames, topic)
      select gen_random_uuid(), '{}', 'orders.dlq.v1' from generate_series(1, 499)`
    const records = Array.from({ length: 6 }, (_, offset) => record(offset, `twice${offset % 3}`))
    await storeBatch(storeDeps(service.sql), batchOf(records))

    expect(await countFrames()).toBe(500)
    for (let offset = 0; offset < 6; offset++)
      expect((await read(offset)).whole).toBe(traceOf(offset, `twice${offset % 3}`))
  })

  test('is filled again where a restored database has lost it', async () => {
    const deps = storeDeps(service.sql)
    await storeBatch(deps, batchOf([record(0), record(1)]))
    await emptyTables(database.sql, 'dlq.dlq_stack_frames')
    await storeBatch(deps, batchOf([record(2)]))

    expect((await read(2)).whole).toBe(traceOf(2))
    expect(await countFrames()).toBe(1)
  })

  test('keeps what a row or an archived row uses, and loses the rest', async () => {
    const deps = storeDeps(service.sql)
    await storeBatch(deps, batchOf([0, 1].map((offset) => record(offset, 'kept'))))
    await storeBatch(deps, batchOf([2, 3].map((offset) => record(offset, 'archived'))))
    await storeBatch(deps, batchOf([4, 5].map((offset) => record(offset, 'gone'))))
    const { id } = await read(2)
    await database.sql`update dlq.dlq_messages set status = 'DEAD', next_retry_at = null where id = ${id}`
    await archiveMessages(service.sql, { ids: [id], now: new Date() })
    await database.sql`delete from dlq.dlq_messages where dlq_offset in (3, 4, 5)`

    const sweep = async () => {
      const [row] = await database.sql<{ swept: number }[]>`select dlq.sweep_stack_frames() as swept`
      return row!.swept
    }
    expect(await sweep()).toBe(0)
    await database.sql`update dlq.dlq_stack_frames set used_at = now() - interval '9 days'`
    expect(await sweep()).toBe(1)
    expect((await read(1)).whole).toBe(traceOf(1, 'kept'))
    expect((await getMessageDetail(service.sql, { id, scope: null }))!.error_stacktrace).toBe(traceOf(2, 'archived'))
    // What was found in a row is not looked for every night.
    await database.sql`delete from dlq.dlq_messages`
    expect(await sweep()).toBe(0)
    await database.sql`update dlq.dlq_stack_frames set found_at = now() - interval '31 days'`
    expect(await sweep()).toBe(1)
  })

  test('is asked again about frames that nobody has used for an hour', async () => {
    let time = Date.now()
    const deps = storeDeps(service.sql, { frames: createFramesRegister(service.sql, { now: () => time }) })
    await storeBatch(deps, batchOf([record(0), record(1)]))
    await database.sql`update dlq.dlq_stack_frames set used_at = now() - interval '20 hours'`
    time += 3_600_001
    await storeBatch(deps, batchOf([record(2)]))
    const [row] = await database.sql`select used_at > now() - interval '1 minute' as is_new from dlq.dlq_stack_frames`
    expect(row!.is_new).toBe(true)
  })
})
