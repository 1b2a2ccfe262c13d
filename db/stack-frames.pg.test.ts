// Migrations 026 and 050 are taken back: every stack trace is whole again, and nothing else of a message changes. And
// which statements their trigger asks about.

import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { migrateDown } from './migrate.ts'

const database = useDatabase()

const referredTo = ['error_class', 'error_message', 'error_stacktrace', 'original_offset', 'original_partition']

test('only a statement that names what a trace or headers refer to is asked whether it changes it, in each partition', async () => {
  const triggers = await database.sql<{ columns: string[] }[]>`
    select array(select attname::text from pg_attribute where attrelid = tgrelid and attnum = any(tgattr) order by 1) as columns
    from pg_trigger where tgname = 'trg_dlq_messages_stack_trace'`
  const [partitions] = await database.sql<[{ n: number }]>`select count(*)::int as n from dlq.message_partitions()`
  expect(triggers.map(({ columns }) => columns)).toEqual(Array(partitions.n + 1).fill(referredTo))
})

test('a template with a NUL, which ingesters make no more, is read as it is', async () => {
  const id = '00000000-0000-8000-8000-000000000003'
  const template = [
    ['a\0b', 'fixed\0'],
    ['own', { own: 'text' }],
    ['bytes', { own: 'base64' }],
    ['why', { column: 'error_message' }],
  ]
  await database.sql`
    insert into dlq.dlq_stack_frames (id, frames, headers, topic)
    values (${id}, '{}', ${JSON.stringify(template)}::text::json, 't')`
  const [row] = await database.sql<[{ headers: string }]>`
    select dlq.whole_headers('[["x","y"],{"framed":["mine","AAE="]}]', ${id}, 'no', 1, 2)::text as headers`
  expect(JSON.parse(row.headers)).toEqual([
    ...[
      ['x', 'y'],
      ['a\0b', 'fixed\0'],
      ['own', 'mine'],
    ],
    ...[
      ['bytes', { base64: 'AAE=' }],
      ['why', 'no'],
    ],
  ])
})

test('when migration 050 is taken back, headers are whole, and traces name their errors', async () => {
  const id = '00000000-0000-8000-8000-000000000002'
  const template = [
    ['kafka_dlt-original-topic', 't'],
    ['kafka_dlt-original-offset', { column: 'original_offset', as: 'text' }],
    ['kafka_dlt-exception-message', { column: 'error_message', before: 'Listener failed; ' }],
  ]
  await database.sql`
    insert into dlq.dlq_stack_frames (id, frames, headers, topic)
    values (${id}, ${database.sql.array(['\tat a\nCaused by: ⋮⋮\n\tat b\n'])}, ${JSON.stringify(template)}::text::json, 't')`
  for (const table of ['dlq_messages', 'dlq_messages_archive']) {
    await database.sql`
      insert into dlq.${database.sql(table)} (
        original_topic, original_offset, error_class, error_message, updated_at, error_stacktrace, record_headers, frames_id)
      values ('framed', 7, 'E', 'no', '2026-02-20T00:00:00Z', ${'F\n\t⋮\n'}, '[["a","b"],{"framed":[]}]', ${id})`
  }
  const withNul = '00000000-0000-8000-8000-000000000003'
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, updated_at, record_headers, frames_id)
    values ('with nul', 'no', '2026-02-20T00:00:00Z', '[{"framed":["mine","AAE="]}]', ${withNul})`
  for (let down: string[] = []; !down.some((name) => name.includes('/050_')); )
    down = await migrateDown({ databaseUrl: database.url, set: 'dlq', count: 1 })

  const [nul] = await database.sql<{ headers: string; at: Date }[]>`
    select record_headers::text as headers, updated_at as at from dlq.dlq_messages where original_topic = 'with nul'`
  expect(JSON.parse(nul!.headers)).toEqual([
    ['a\0b', 'fixed\0'],
    ['own', 'mine'],
    ['bytes', { base64: 'AAE=' }],
    ['why', 'no'],
  ])
  expect(nul!.at.getTime()).toBe(Date.parse('2026-02-20T00:00:00Z'))
  await database.sql`delete from dlq.dlq_messages where original_topic = 'with nul'`
  for (const table of ['dlq_messages', 'dlq_messages_archive']) {
    const [row] = await database.sql<{ trace: string; headers: string; frames_id: string | null; at: Date }[]>`
      select error_stacktrace as trace, record_headers::text as headers, frames_id, updated_at as at
      from dlq.${database.sql(table)} where original_topic = 'framed'`
    expect(row).toMatchObject({ trace: 'F\n\tat a\nCaused by: E: no\n\tat b\n', frames_id: null })
    expect(row!.at.getTime()).toBe(Date.parse('2026-02-20T00:00:00Z'))
    expect(JSON.parse(row!.headers)).toEqual([
      ['a', 'b'],
      ['kafka_dlt-original-topic', 't'],
      ['kafka_dlt-original-offset', '7'],
      ['kafka_dlt-exception-message', 'Listener failed; no'],
    ])
    await database.sql`delete from dlq.${database.sql(table)} where original_topic = 'framed'`
  }
})

test('when migration 026 is taken back, stack traces are whole in messages and archive', async () => {
  await database.sql`
    insert into dlq.dlq_stack_frames (id, frames, topic)
    values ('00000000-0000-8000-8000-000000000001', ${database.sql.array(['\tat a\n\tat b\n', '\tat c'])}, 't')`
  for (const table of ['dlq_messages', 'dlq_messages_archive']) {
    await database.sql`
      insert into dlq.${database.sql(table)} (original_topic, error_message, updated_at, error_stacktrace, frames_id)
      values ('t', 'no', '2026-02-20T00:00:00Z', ${'Error: no\n\t⋮\nCaused by: x\n\t⋮\n'}, '00000000-0000-8000-8000-000000000001'),
             ('t', 'no', '2026-02-20T00:00:00Z', 'whole', null), ('t', 'no', '2026-02-20T00:00:00Z', null, null)`
  }
  for (let down: string[] = []; !down.some((name) => name.includes('/026_')); )
    down = await migrateDown({ databaseUrl: database.url, set: 'dlq', count: 1 })

  for (const table of ['dlq_messages', 'dlq_messages_archive']) {
    const rows = await database.sql`
      select error_stacktrace as trace, updated_at from dlq.${database.sql(table)} order by error_stacktrace`
    expect(rows.map(({ trace }) => trace)).toEqual(['Error: no\n\tat a\n\tat b\nCaused by: x\n\tat c', 'whole', null])
    expect(rows.every(({ updated_at: at }) => at.getTime() === Date.parse('2026-02-20T00:00:00Z'))).toBe(true)
  }
})
