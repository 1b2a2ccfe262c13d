// Takes over the rows of a schema that the specification's own migrations made: three of the DLQ, five of the sagas. The
// schema is set aside under another name, our migrations make theirs, and the rows move. They keep their ids.

import type pg from 'pg'

type FileSet = 'dlq' | 'saga'

/** Where the rows wait until ours is made. */
const asideOf = (set: FileSet) => `${set}_before_adoption`

/** The tables in the order in which their rows move, with what ours need besides the columns that both have. */
const tables: Record<FileSet, readonly { name: string; more: Readonly<Record<string, string>> }[]> = {
  dlq: [
    {
      name: 'dlq_messages',
      more: {
        // Named, so that the row is not touched once more and keeps its updated_at.
        next_retry_at: `case when status = 'RETRYING' or (status = 'PENDING' and retry_count < max_retries)
          then dlq.next_retry_at(original_topic, retry_count) end`,
        first_failed_at: 'created_at',
        last_failed_at: 'created_at',
      },
    },
    // Nobody knows when they were archived. From now on they stay for the archive's whole retention.
    { name: 'dlq_messages_archive', more: { first_failed_at: 'created_at', last_failed_at: 'created_at' } },
  ],
  saga: [
    { name: 'saga_states', more: {} },
    { name: 'saga_step_logs', more: {} },
  ],
}

/** Whether the schema is one of the specification's: its first table is there, and no migration of ours was applied. */
export async function isSpecified(client: pg.Client, set: FileSet): Promise<boolean> {
  const table = await client.query(`select from pg_class where oid = to_regclass($1) and relkind = 'r'`, [
    `${set}.${tables[set][0]!.name}`,
  ])
  const ours = await client.query('select to_regclass($1) is not null as there', [`migrations.${set}`])
  if (table.rowCount === 0 || !ours.rows[0].there) return table.rowCount === 1
  return (await client.query(`select from migrations.${set} limit 1`)).rowCount === 0
}

/** Whether an adoption has begun and not ended. */
export async function isSetAside(client: pg.Client, set: FileSet): Promise<boolean> {
  const { rows } = await client.query('select to_regnamespace($1) is not null as there', [asideOf(set)])
  return rows[0].there
}

/** Renames the schema. @throws where a table has columns that the specification does not name, because they would be lost */
export async function setAside(client: pg.Client, set: FileSet): Promise<void> {
  for (const { name } of tables[set]) {
    const unknown = (await columnsOf(client, `${set}.${name}`)).filter((column) => !specified[name]!.includes(column))
    if (unknown.length > 0)
      throw new Error(
        `${set}.${name} has columns that the specification does not have: ${unknown.join(', ')}; move them elsewhere first, because they would be lost`,
      )
  }
  await client.query(`alter schema ${set} rename to ${asideOf(set)}`)
}

/** Moves the rows into our tables and drops the schema that was set aside, in one transaction. Returns how many rows each table had. */
export async function moveRows(client: pg.Client, set: FileSet): Promise<Record<string, number>> {
  const moved: Record<string, number> = {}
  await client.query('begin')
  try {
    for (const { name, more } of tables[set]) {
      const from = `${asideOf(set)}.${name}`
      const shared = await columnsOf(client, from)
      const known = await columnsOf(client, `${set}.${name}`)
      const own = Object.entries(more).filter(([column]) => known.includes(column))
      const into = [...shared, ...own.map(([column]) => column)].join(', ')
      const values = [...shared, ...own.map(([, value]) => value)].join(', ')
      if (shared.length === 0) continue
      moved[name] =
        (await client.query(`insert into ${set}.${name} (${into}) select ${values} from ${from}`)).rowCount ?? 0
    }
    // Without "cascade": what somebody else has put there, such as a view, stops it before anything is lost.
    for (const { name } of tables[set].toReversed()) await client.query(`drop table if exists ${asideOf(set)}.${name}`)
    await client.query(`drop procedure if exists ${asideOf(set)}.archive_old_dlq_messages(int, int)`)
    await client.query(`drop function if exists ${asideOf(set)}.update_updated_at()`)
    await client.query(`drop schema ${asideOf(set)}`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
  return moved
}

async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query(
    `select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
    [table],
  )
  return rows.map(({ name }) => name)
}

const message = [
  ...['id', 'original_topic', 'error_message', 'retry_count', 'max_retries', 'payload', 'status'],
  ...['created_at', 'updated_at', 'last_retry_at'],
]

/** The specification's columns. */
const specified: Readonly<Record<string, readonly string[]>> = {
  dlq_messages: message,
  dlq_messages_archive: message,
  saga_states: [
    ...['id', 'workflow_name', 'current_step', 'status', 'payload', 'correlation_id', 'initiated_by', 'error_message'],
    ...['created_at', 'updated_at'],
  ],
  saga_step_logs: [
    ...['id', 'saga_id', 'step_index', 'step_name', 'action', 'status', 'request_payload', 'response_payload'],
    ...['error_message', 'started_at', 'completed_at', 'updated_at'],
  ],
}
