// The queries of the specification (dlq-database.md and saga-database.md, "main query patterns"), word for word.
import { randomUUID } from 'node:crypto'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import type { ParameterOrJSON } from 'postgres'
import { beforeEach, describe, expect, test } from 'vitest'

const database = useDatabase()

const run = (query: string, parameters: ParameterOrJSON<never>[] = []) => database.sql.unsafe(query, parameters)

type Column = [name: string, type: string, notNull: boolean, defaultValue: string | null]

async function columnsOf(table: string): Promise<Column[]> {
  const rows = await database.sql<{ column: Column }[]>`
    select json_build_array(attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid)) as column
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
    order by attnum`
  return rows.map(({ column }) => column)
}

async function constraintsOf(table: string): Promise<string[]> {
  const rows = await database.sql<{ line: string }[]>`
    select conname || ' ' || pg_get_constraintdef(oid) as line from pg_constraint where conrelid = ${table}::regclass and contype <> 'n'`
  return rows.map(({ line }) => line).toSorted()
}

/** Name → columns, without those that primary keys have. */
async function indexesOf(table: string): Promise<Record<string, string>> {
  const rows = await database.sql<{ name: string; columns: string }[]>`
    select indexrelid::regclass::text as name, regexp_replace(pg_get_indexdef(indexrelid), '^.* USING btree ', '') as columns
    from pg_index where indrelid = ${table}::regclass and not indisprimary order by 1`
  return Object.fromEntries(rows.map(({ name, columns }) => [name.replace(/^\w+\./, ''), columns]))
}

describe('dead letters', () => {
  beforeEach(async () => {
    await database.sql`truncate dlq.dlq_messages`
  })

  test('the table begins with the specification’s columns', async () => {
    expect((await columnsOf('dlq.dlq_messages')).slice(0, 10)).toEqual([
      ['id', 'uuid', true, 'dlq.new_message_id()'],
      ['original_topic', 'character varying(255)', true, null],
      ['error_message', 'text', true, null],
      ['retry_count', 'integer', true, '0'],
      ['max_retries', 'integer', true, '3'],
      ['payload', 'jsonb', false, null],
      ['status', 'character varying(50)', true, "'PENDING'::character varying"],
      ['created_at', 'timestamp with time zone', true, 'now()'],
      ['updated_at', 'timestamp with time zone', true, 'now()'],
      ['last_retry_at', 'timestamp with time zone', false, null],
    ])
  })

  test('a row needs no more than the specification’s columns', async () => {
    const [row] = await run(`INSERT INTO dlq.dlq_messages (original_topic, error_message, payload)
      VALUES ('orders.events.v1', 'processing failed', '{"order_id": "123"}') RETURNING *`)
    expect(row).toMatchObject({
      status: 'PENDING',
      retry_count: 0,
      max_retries: 3,
      payload: { order_id: '123' },
      last_retry_at: null,
    })
  })

  test('a status that the specification does not know is refused', async () => {
    await expect(insertMessageRow(database.sql, { status: 'LOST' })).rejects.toMatchObject({
      constraint_name: 'chk_dlq_messages_status',
    })
  })

  test('the indexes carry the specification’s names', async () => {
    expect(await indexesOf('dlq.dlq_messages')).toMatchObject({
      idx_dlq_messages_original_topic: expect.stringMatching(/^\(original_topic\b/),
      idx_dlq_messages_status: expect.stringMatching(/^\(status\b/),
      idx_dlq_messages_created_at: '(created_at)',
    })
  })

  const due = `SELECT id, original_topic, error_message, retry_count, max_retries, payload
FROM dlq.dlq_messages
WHERE status = 'PENDING'
  AND retry_count < max_retries
ORDER BY created_at ASC
LIMIT $1
FOR UPDATE SKIP LOCKED;`

  test('the messages to retry come oldest first, without those that another transaction holds', async () => {
    const [newest, middle, oldest] = await Promise.all(
      [1, 2, 3].map((hours) =>
        insertMessageRow(database.sql, { created_at: new Date(Date.now() - hours * 3_600_000) }),
      ),
    )
    await insertMessageRow(database.sql, { status: 'DEAD' })
    await insertMessageRow(database.sql, { retry_count: 3 })

    await database.sql.begin(async (sql) => {
      const first = await sql.unsafe(due, [1])
      expect(first).toEqual([
        {
          id: oldest,
          original_topic: 'orders.events.v1',
          error_message: 'processing failed',
          retry_count: 0,
          max_retries: 3,
          payload: null,
        },
      ])
      expect((await run(due, [10])).map(({ id }) => id)).toEqual([middle, newest])
    })
  })

  test('a retry that succeeds goes from RETRYING to RESOLVED, and each step sets updated_at', async () => {
    const id = await insertMessageRow(database.sql, { updated_at: new Date(0) })
    await run(
      `UPDATE dlq.dlq_messages
SET status = 'RETRYING', last_retry_at = NOW()
WHERE id = $1;`,
      [id],
    )
    const retrying = await readMessageRow(database.sql, id)
    await run(
      `UPDATE dlq.dlq_messages
SET status = 'RESOLVED'
WHERE id = $1;`,
      [id],
    )
    const resolved = await readMessageRow(database.sql, id)

    expect(retrying).toMatchObject({ status: 'RETRYING', last_retry_at: expect.any(Date) })
    expect(resolved.status).toBe('RESOLVED')
    expect(retrying.updated_at.getTime()).toBeGreaterThan(0)
    expect(resolved.updated_at.getTime()).toBeGreaterThan(retrying.updated_at.getTime() - 1)
  })

  test('a retry that fails counts, and is DEAD when the budget is spent', async () => {
    const id = await insertMessageRow(database.sql, { status: 'RETRYING' })
    const states = []
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await run(
        `UPDATE dlq.dlq_messages
SET retry_count = retry_count + 1,
    status = CASE WHEN retry_count + 1 >= max_retries THEN 'DEAD' ELSE 'PENDING' END
WHERE id = $1;`,
        [id],
      )
      const { status, retry_count } = await readMessageRow(database.sql, id)
      states.push([retry_count, status])
    }
    expect(states).toEqual([
      [1, 'PENDING'],
      [2, 'PENDING'],
      [3, 'DEAD'],
    ])
  })

  test('the overview counts the messages of each topic and status', async () => {
    for (const status of ['PENDING', 'PENDING', 'DEAD'])
      await insertMessageRow(database.sql, { status, original_topic: 'a' })
    await insertMessageRow(database.sql, { original_topic: 'b' })

    const rows = await run(`SELECT original_topic, status, COUNT(*) as count
FROM dlq.dlq_messages
GROUP BY original_topic, status
ORDER BY original_topic, status;`)
    expect([...rows]).toEqual([
      { original_topic: 'a', status: 'DEAD', count: '1' },
      { original_topic: 'a', status: 'PENDING', count: '2' },
      { original_topic: 'b', status: 'PENDING', count: '1' },
    ])
  })
})

describe('sagas', () => {
  beforeEach(async () => {
    await database.sql`truncate saga.saga_states cascade`
  })

  const create = `INSERT INTO saga.saga_states (
    id, workflow_name, current_step, status, payload, correlation_id, initiated_by
) VALUES ($1, $2, 0, 'STARTED', $3, $4, $5)
RETURNING *;`

  async function createSaga({ workflow = 'retry-all', correlation = null as string | null } = {}) {
    const [saga] = await run(create, [randomUUID(), workflow, { topic: 'orders' }, correlation, 'api'])
    return saga!
  }

  test('saga_states has the specification’s columns, constraints and indexes', async () => {
    expect(await columnsOf('saga.saga_states')).toEqual([
      ['id', 'uuid', true, 'gen_random_uuid()'],
      ['workflow_name', 'character varying(255)', true, null],
      ['current_step', 'integer', true, '0'],
      ['status', 'character varying(50)', true, "'STARTED'::character varying"],
      ['payload', 'jsonb', false, null],
      ['correlation_id', 'character varying(255)', false, null],
      ['initiated_by', 'character varying(255)', false, null],
      ['error_message', 'text', false, null],
      ['created_at', 'timestamp with time zone', true, 'now()'],
      ['updated_at', 'timestamp with time zone', true, 'now()'],
    ])
    expect(await constraintsOf('saga.saga_states')).toEqual([
      expect.stringMatching(
        /^chk_saga_states_status CHECK .*'STARTED'.*'RUNNING'.*'COMPLETED'.*'COMPENSATING'.*'FAILED'.*'CANCELLED'/,
      ),
      'saga_states_pkey PRIMARY KEY (id)',
    ])
    expect(await indexesOf('saga.saga_states')).toEqual({
      idx_saga_states_workflow_name: '(workflow_name)',
      idx_saga_states_status: '(status)',
      idx_saga_states_correlation_id: '(correlation_id) WHERE (correlation_id IS NOT NULL)',
      idx_saga_states_created_at: '(created_at)',
    })
  })

  test('saga_step_logs has the specification’s columns, constraints and indexes', async () => {
    expect(await columnsOf('saga.saga_step_logs')).toEqual([
      ['id', 'uuid', true, 'gen_random_uuid()'],
      ['saga_id', 'uuid', true, null],
      ['step_index', 'integer', true, null],
      ['step_name', 'character varying(255)', true, null],
      ['action', 'character varying(50)', true, null],
      ['status', 'character varying(50)', true, null],
      ['request_payload', 'jsonb', false, null],
      ['response_payload', 'jsonb', false, null],
      ['error_message', 'text', false, null],
      ['started_at', 'timestamp with time zone', true, 'now()'],
      ['completed_at', 'timestamp with time zone', false, null],
      ['updated_at', 'timestamp with time zone', true, 'now()'],
    ])
    expect(await constraintsOf('saga.saga_step_logs')).toEqual([
      expect.stringMatching(/^chk_saga_step_logs_action CHECK .*'EXECUTE'.*'COMPENSATE'/),
      expect.stringMatching(/^chk_saga_step_logs_status CHECK .*'SUCCESS'.*'FAILED'.*'TIMEOUT'.*'SKIPPED'/),
      'saga_step_logs_pkey PRIMARY KEY (id)',
      'saga_step_logs_saga_id_fkey FOREIGN KEY (saga_id) REFERENCES saga.saga_states(id) ON DELETE CASCADE',
    ])
    expect(await indexesOf('saga.saga_step_logs')).toEqual({
      idx_saga_step_logs_saga_id_step_index: '(saga_id, step_index)',
      idx_saga_step_logs_step_name: '(step_name)',
      idx_saga_step_logs_status: '(status)',
      idx_saga_step_logs_action: '(action)',
      idx_saga_step_logs_started_at: '(started_at)',
    })
  })

  const update = `UPDATE saga.saga_states
SET current_step = $2, status = $3, error_message = $4, updated_at = NOW()
WHERE id = $1;`

  // The specification numbers its parameters across both statements; a separate statement begins at $1.
  const insertLog = `INSERT INTO saga.saga_step_logs (
    id, saga_id, step_index, step_name, action, status,
    request_payload, response_payload, error_message,
    started_at, completed_at
  ) VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9, $10, $11);`

  test('a state and its step log are written in one transaction and read in the order of steps', async () => {
    const { id } = await createSaga()
    for (const [step, status] of [
      [1, 'RUNNING'],
      [2, 'COMPLETED'],
    ] as const) {
      await database.sql.begin(async (sql) => {
        await sql.unsafe(update, [id, step, status, null])
        await sql.unsafe(insertLog, [
          id,
          randomUUID(),
          step,
          `step-${step}`,
          'EXECUTE',
          'SUCCESS',
          {},
          null,
          null,
          new Date(),
          null,
        ])
      })
    }
    const [saga] = await run('SELECT * FROM saga.saga_states WHERE id = $1;', [id])
    const logs = await run(
      `SELECT * FROM saga.saga_step_logs
WHERE saga_id = $1
ORDER BY step_index ASC, started_at ASC;`,
      [id],
    )

    expect(saga).toMatchObject({
      workflow_name: 'retry-all',
      current_step: 2,
      status: 'COMPLETED',
      payload: { topic: 'orders' },
      initiated_by: 'api',
    })
    expect(logs.map(({ step_name, action, status }) => [step_name, action, status])).toEqual([
      ['step-1', 'EXECUTE', 'SUCCESS'],
      ['step-2', 'EXECUTE', 'SUCCESS'],
    ])
  })

  test('deleting a saga deletes its step logs', async () => {
    const { id } = await createSaga()
    await database.sql`
      insert into saga.saga_step_logs (saga_id, step_index, step_name, action, status) values (${id}, 0, 'mark', 'EXECUTE', 'SUCCESS')`
    await database.sql`delete from saga.saga_states where id = ${id}`
    expect(await database.sql`select from saga.saga_step_logs`).toHaveLength(0)
  })

  test('updates set updated_at of states and step logs', async () => {
    const { id } = await createSaga()
    await database.sql`
      insert into saga.saga_step_logs (saga_id, step_index, step_name, action, status, updated_at)
      values (${id}, 0, 'mark', 'EXECUTE', 'FAILED', '2020-01-01')`
    await database.sql`update saga.saga_step_logs set status = 'SUCCESS'`
    await database.sql`update saga.saga_states set updated_at = '2020-01-01'`

    const fresh = await database.sql`
      select updated_at > now() - interval '1 minute' as fresh from saga.saga_step_logs
      union all select updated_at > now() - interval '1 minute' from saga.saga_states`
    expect([...fresh]).toEqual([{ fresh: true }, { fresh: true }])
  })

  test('recovery finds unfinished sagas, oldest first', async () => {
    const ids = []
    for (const status of ['STARTED', 'RUNNING', 'COMPLETED', 'COMPENSATING', 'FAILED', 'CANCELLED']) {
      const { id } = await createSaga()
      await run(update, [id, 0, status, null])
      ids.push(id)
    }
    const unfinished = await run(`SELECT * FROM saga.saga_states
WHERE status IN ('STARTED', 'RUNNING', 'COMPENSATING')
ORDER BY created_at ASC;`)
    expect(unfinished.map(({ id }) => id)).toEqual([ids[0], ids[1], ids[3]])
  })

  test('lists are filtered by workflow, status and correlation, and counted', async () => {
    await createSaga()
    const { id } = await createSaga({ workflow: 'archive', correlation: 'order-1' })
    await createSaga({ workflow: 'archive', correlation: 'order-2' })
    const where = `WHERE
    ($1::VARCHAR IS NULL OR workflow_name = $1)
    AND ($2::VARCHAR IS NULL OR status = $2)
    AND ($3::VARCHAR IS NULL OR correlation_id = $3)`
    const list = `SELECT * FROM saga.saga_states
${where}
ORDER BY created_at DESC
LIMIT $4 OFFSET $5;`
    const count = `SELECT COUNT(*) FROM saga.saga_states
${where};`

    expect((await run(list, ['archive', 'STARTED', 'order-1', 20, 0])).map((saga) => saga.id)).toEqual([id])
    expect(await run(list, [null, null, null, 2, 1])).toHaveLength(2)
    expect([...(await run(count, ['archive', null, null]))]).toEqual([{ count: '2' }])
  })
})
