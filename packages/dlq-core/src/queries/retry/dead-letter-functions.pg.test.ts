// dlq.dead_letter and the functions by which applications handle dead letters themselves, as SQL.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import type postgres from 'postgres'
import { beforeEach, describe, expect, test } from 'vitest'
import { deriveAttemptId } from '../../domain/record/message-id.ts'

const database = useDatabase()

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_policies')
})

const setPolicy = (policy: Record<string, unknown>) =>
  database.sql`insert into dlq.dlq_policies ${database.sql(policy)}`
const rows = () => database.sql`select * from dlq.dlq_messages order by id`
const inMinutes = (time: Date) => (time.getTime() - Date.now()) / 60_000
const call = (statement: string, sql: postgres.Sql | postgres.TransactionSql = database.sql) => sql.unsafe(statement)

describe('dlq.dead_letter', () => {
  test('stores its arguments, and returns the id', async () => {
    const [row] = await call(`
      select dlq.dead_letter('order.created', '{"n": 12345678901234567890.12}', 'boom', 'java.lang.Boom', 'at Boom',
        p_key => 'k1', p_headers => '{"trace": "é", "none": null}', p_consumer_group => 'billing',
        p_retry_after => '10 minutes', p_max_retries => 240) as id`)
    const [stored] = await rows()
    expect(stored).toMatchObject({
      ...{ id: row!.id, original_topic: 'order.created', original_topic_source: 'caller', status: 'PENDING' },
      ...{
        error_message: 'boom',
        error_class: 'java.lang.Boom',
        error_stacktrace: 'at Boom',
        consumer_group: 'billing',
      },
      ...{ max_retries: 240, retry_count: 0, dlq_topic: null, record_key: Buffer.from('k1') },
      record_value: Buffer.from('{"n": 12345678901234567890.12}'),
    })
    expect(stored!.record_headers.toSorted()).toEqual([
      ['none', null],
      ['trace', 'é'],
    ])
    expect(inMinutes(stored!.next_retry_at)).toBeGreaterThan(8)
    expect(inMinutes(stored!.next_retry_at)).toBeLessThan(10.1)
  })

  test('keeps bytes as they are', async () => {
    await call(`select dlq.dead_letter('order.created', null, 'boom', p_value => '\\x00ff')`)
    expect(await rows()).toMatchObject([{ payload: null, record_value: Buffer.from([0, 255]), record_headers: [] }])
  })

  test('without more than payload and error waits as the policy says', async () => {
    await call(`select dlq.dead_letter('order.created', '{}', 'boom')`)
    await setPolicy({ pattern: 'order.*', max_retries: 7, backoff: 'fixed', initial_delay: '1 hour' })
    await call(`select dlq.dead_letter('order.created', '{}', 'boom')`)
    await setPolicy({ pattern: 'order.created', auto_retry: false })
    await call(`select dlq.dead_letter('order.created', '{}', 'boom')`)

    const [builtIn, fixed, manual] = (await rows()).toSorted((a, b) => a.created_at - b.created_at)
    expect([builtIn!.max_retries, fixed!.max_retries, manual!.max_retries]).toEqual([3, 7, 7])
    expect(inMinutes(builtIn!.next_retry_at)).toBeLessThan(5)
    expect(Math.round(inMinutes(fixed!.next_retry_at))).toBe(60)
    expect([builtIn!.record_headers, manual!.next_retry_at]).toEqual([null, null])
  })

  test('leaves nothing when its transaction is taken back', async () => {
    await database.sql
      .begin(async (sql) => {
        await call(`select dlq.dead_letter('order.created', '{}', 'boom')`, sql)
        expect(await sql`select from dlq.dlq_messages`).toHaveLength(1)
        throw new Error('take back')
      })
      .catch(() => {})
    expect(await rows()).toEqual([])
  })

  test('creates the month’s partition where it is missing', async () => {
    const [month] = await database.sql`select to_char(now() at time zone 'UTC', '"dlq.dlq_messages_"YYYY_MM') as name`
    await database.sql`drop table ${database.sql(month!.name)}`
    await call(`select dlq.dead_letter('order.created', '{}', 'boom')`)
    expect(await database.sql`select from ${database.sql(month!.name)}`).toHaveLength(1)
  })

  test('cuts long errors and stack traces', async () => {
    await call(
      `select dlq.dead_letter('order.created', '{}', repeat('x', 100000), p_stack_trace => repeat('é', 2000000))`,
    )
    const [row] = await rows()
    expect([row!.error_message.length, row!.error_stacktrace.length]).toEqual([65536, 1048576])
  })

  test.each([
    [`'', '{}', 'boom'`, 'p_topic must be 1 to 255 characters'],
    [`null, '{}', 'boom'`, 'p_topic must be 1 to 255 characters'],
    [`repeat('x', 256), '{}', 'boom'`, 'p_topic must be 1 to 255 characters'],
    [`E'a\\nb', '{}', 'boom'`, 'none of them a control character'],
    [`'orders', '{}', null`, 'p_error must say what went wrong'],
    [`'orders', '{}', 'boom', p_value => '\\x00'`, 'give p_payload or p_value, not both'],
    [`'orders', to_jsonb(repeat('x', 10485760)), 'boom'`, 'the value must be at most 10485760 bytes'],
    [`'orders', null, 'boom', p_value => convert_to(repeat('x', 10485761), 'UTF8')`, 'the value must be at most'],
    [`'orders', '{}', 'boom', p_key => repeat('x', 65537)`, 'p_key must be at most 65536 bytes'],
    [`'orders', '{}', 'boom', p_headers => '[]'`, 'p_headers must be an object'],
    [`'orders', '{}', 'boom', p_headers => '{"a": 1}'`, 'whose values are texts'],
    [`'orders', '{}', 'boom', p_error_class => repeat('x', 513)`, 'p_error_class must be at most 512 characters'],
    [`'orders', '{}', 'boom', p_consumer_group => repeat('x', 256)`, 'p_consumer_group must be at most 255 characters'],
    [`'orders', '{}', 'boom', p_retry_after => '-1 s'`, 'p_retry_after must be from 0 to 366 days'],
    [`'orders', '{}', 'boom', p_retry_after => '10 years'`, 'p_retry_after must be from 0 to 366 days'],
    [`'orders', '{}', 'boom', p_max_retries => 0`, 'p_max_retries must be from 1 to 1000'],
  ])('refuses (%s)', async (parameters, complaint) => {
    await expect(call(`select dlq.dead_letter(${parameters})`)).rejects.toMatchObject({
      code: '22023',
      message: expect.stringContaining(complaint),
    })
    expect(await rows()).toEqual([])
  })
})

describe('dlq.claim_messages', () => {
  const claim = (parameters: string, sql?: postgres.TransactionSql) =>
    call(`select * from dlq.claim_messages(${parameters})`, sql)
  const insertDue = (count = 1, topic = 'orders') =>
    call(
      `select dlq.dead_letter('${topic}', '{}', 'boom', p_retry_after => '0') as id from generate_series(1, ${count})`,
    )
  beforeEach(() => setPolicy({ pattern: '*', delivery: 'pull' }))

  test('leases due messages, oldest first, and none twice', async () => {
    const ids = (await insertDue(5)).map(({ id }) => id)
    await call(`select dlq.dead_letter('orders', '{}', 'later', p_retry_after => '1 hour')`)
    await insertDue(1, 'others')
    const first = await claim(`'orders', 3, '1 minute'`)
    const second = await claim(`'orders', 3`)

    expect(first.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 3).toSorted())
    expect([...first, ...second].map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(new Set(first.map(({ lease_token }) => lease_token)).size).toBe(1)
    expect(first[0]).toMatchObject({ original_topic: 'orders', retry_count: 1, max_retries: 3, error_message: 'boom' })
    expect(Math.abs(inMinutes(first[0]!.lease_until) - 1)).toBeLessThan(0.5)
    expect(await claim(`'orders'`)).toEqual([])
  })

  test('passes over messages that another session is claiming, without waiting for it', async () => {
    await insertDue(4)
    await database.sql.begin(async (sql) => {
      expect(await claim(`'orders', 2`, sql)).toHaveLength(2)
      expect(await claim(`'orders', 10`)).toHaveLength(2)
    })
  })

  test('refuses a topic that retriers retry, and says what to do', async () => {
    await insertDue()
    await setPolicy({ pattern: 'orders', delivery: 'republish' })
    await expect(claim(`'orders'`)).rejects.toMatchObject({
      code: '55000',
      message: `topic orders is retried by the retriers: a policy of it in dlq.dlq_policies must say delivery = 'pull' first`,
    })
  })

  test('takes nothing while the policy says paused, or the budget is spent', async () => {
    await insertDue()
    await setPolicy({ pattern: 'orders', paused: true })
    expect(await claim(`'orders'`)).toEqual([])
    await call(`update dlq.dlq_policies set paused = false; update dlq.dlq_messages set retry_count = 3`)
    expect(await claim(`'orders'`)).toEqual([])
    expect(await claim(`'orders', 1, '1 minute', 4`)).toMatchObject([{ retry_count: 4, max_retries: 4 }])
  })

  test('takes what had as many attempts as the caller allows only where somebody has renewed its budget', async () => {
    await insertDue()
    const again = () => claim(`'orders', 1, '1 minute', 2`)
    for (const retry_count of [1, 2]) {
      const [claimed] = await again()
      expect(claimed).toMatchObject({ retry_count, max_retries: 2 })
      await call(`select dlq.fail_message('${claimed!.id}', '${claimed!.lease_token}', 'no', p_retry_after => '0')`)
    }
    expect(await rows()).toMatchObject([{ status: 'DEAD' }])
    await call(`update dlq.dlq_messages set status = 'PENDING', next_retry_at = now()`)
    expect(await again()).toEqual([])
    // As a forced retry and a revival do.
    await call('update dlq.dlq_messages set max_retries = 3')
    expect(await again()).toMatchObject([{ retry_count: 3, max_retries: 3 }])
  })

  test('ends expired leases, and lets the budget decide', async () => {
    await setPolicy({ pattern: 'orders', backoff: 'fixed', initial_delay: '0' })
    const [{ id } = { id: '' }] = await insertDue()
    const tokens: string[] = []
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const [claimed] = await claim(`'orders'`)
      expect(claimed).toMatchObject({ id, retry_count: attempt })
      tokens.push(claimed!.lease_token)
      await call(`update dlq.dlq_messages set lease_until = now() - interval '1 s'`)
    }
    expect(await claim(`'orders'`)).toEqual([])
    expect(await rows()).toMatchObject([{ status: 'DEAD', retry_count: 3, lease_token: null }])
    for (const token of tokens)
      expect(await call(`select dlq.resolve_messages(array['${id}']::uuid[], '${token}')`)).toEqual([])
    const attempts = await database.sql`select number, outcome, attempt_id from dlq.dlq_attempts order by number`
    expect([...attempts]).toEqual(
      [1, 2, 3].map((number) => ({ number, outcome: 'failed', attempt_id: deriveAttemptId(id, number) })),
    )
  })

  test.each([
    ['null', 'p_topic must name a topic'],
    [`'orders', 0`, 'p_limit must be from 1 to 1000'],
    [`'orders', 1001`, 'p_limit must be from 1 to 1000'],
    [`'orders', 1, '0'`, 'p_lease must be from 1 second to 1 day'],
    [`'orders', 1, '2 days'`, 'p_lease must be from 1 second to 1 day'],
    [`'orders', 1, '1 minute', 0`, 'p_max_retries must be from 1 to 1000'],
  ])('refuses (%s)', async (parameters, complaint) => {
    await expect(claim(parameters)).rejects.toMatchObject({ code: '22023', message: complaint })
  })

  describe('a claimed message', () => {
    let message: { id: string; lease_token: string }
    beforeEach(async () => {
      await insertDue()
      message = (await claim(`'orders'`))[0] as unknown as typeof message
    })
    const settle = (fn: string, token = message.lease_token, rest = '') =>
      call(
        `select * from dlq.${fn}(${fn === 'fail_message' ? `'${message.id}'` : `array['${message.id}']::uuid[]`}, '${token}'${rest}) as outcome`,
      )

    test('is resolved by its token, once', async () => {
      expect(await settle('resolve_messages', randomUUID())).toEqual([])
      expect([...(await settle('resolve_messages'))]).toEqual([{ outcome: message.id }])
      expect(await settle('resolve_messages')).toEqual([])
      expect(await rows()).toMatchObject([
        { status: 'RESOLVED', next_retry_at: null, lease_token: null, lease_until: null },
      ])
      const attempts = await database.sql`select number, outcome, actor from dlq.dlq_attempts`
      expect([...attempts]).toEqual([{ number: 1, outcome: 'resolved', actor: 'postgres' }])
    })

    test('fails by its token, and waits as the policy or the caller says', async () => {
      expect([...(await settle('fail_message', randomUUID(), `, 'no'`))]).toEqual([{ outcome: null }])
      expect([...(await settle('fail_message', undefined, `, 'again', 'Class', 'stack', '2 hours'`))]).toEqual([
        { outcome: 'PENDING' },
      ])
      const [row] = await rows()
      expect(row).toMatchObject({
        error_message: 'again',
        error_class: 'Class',
        error_stacktrace: 'stack',
        failure_count: 2,
        retry_count: 1,
      })
      expect(Math.round(inMinutes(row!.next_retry_at))).toBe(120)
    })

    test('is given back uncounted', async () => {
      expect(await settle('release_messages', randomUUID())).toEqual([])
      expect(await settle('release_messages')).toHaveLength(1)
      expect(await rows()).toMatchObject([{ status: 'PENDING', retry_count: 0, lease_token: null }])
      expect(await claim(`'orders'`)).toHaveLength(1)
    })

    test('keeps its lease only by its token', async () => {
      expect(await settle('extend_leases', randomUUID(), `, '1 hour'`)).toEqual([])
      expect(await settle('extend_leases', undefined, `, '1 hour'`)).toHaveLength(1)
      expect(Math.round(inMinutes((await rows())[0]!.lease_until))).toBe(60)
    })

    test('cannot be settled by these functions where a retrier holds it by its slot', async () => {
      await call('update dlq.dlq_messages set lease_slot = 1, lease_batch = 1')
      for (const fn of ['resolve_messages', 'release_messages']) expect(await settle(fn)).toEqual([])
      expect([...(await settle('fail_message', undefined, `, 'no'`))]).toEqual([{ outcome: null }])
      expect(await rows()).toMatchObject([{ status: 'RETRYING', lease_slot: 1 }])
    })
  })
})
