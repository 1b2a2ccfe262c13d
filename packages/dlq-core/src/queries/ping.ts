// Whether the database answers. Readiness asks it, and a new login is tested with it.

import type { Sql } from './sql.ts'

/** What a database does that only answers reads. */
export const takesNoChanges = 'takes no changes: it is a standby, or was made read-only'

const undefinedTable = '42P01'
const isNotMigrated =
  'has no tables of dlq-manager: run the migrations (node db/migrate.ts up), or name another database'

/**
 * Throws where the database takes no changes: after a failover, the address may still lead to a standby. And where it has
 * no tables of ours.
 */
export async function pingForChanges(sql: Sql): Promise<void> {
  const [row] = await sql<[{ mode: string; is_empty: boolean }]>`
    select current_setting('transaction_read_only') as mode, to_regclass('dlq.dlq_topics') is null as is_empty`
  if (row.mode === 'on') throw new Error(takesNoChanges)
  if (row.is_empty) throw new Error(isNotMigrated)
}

/**
 * Asks what people ask: the newest DEAD message. It needs every partition, so it fails where lists fail, as when
 * PostgreSQL has no memory left for locks; "select 1" does not.
 */
export async function pingMessages(sql: Sql): Promise<void> {
  try {
    // As message-scan.ts asks for it, so that it goes along idx_dlq_messages_status.
    await sql`select id from dlq.dlq_messages m where m.status = any(array['DEAD']) order by m.status desc, m.id desc limit 1`
  } catch (cause) {
    throw (cause as { code?: string }).code === undefinedTable ? new Error(isNotMigrated, { cause }) : cause
  }
}

/** Throws unless the login may read the tables of schema dlq. */
export async function pingSchema(sql: Sql): Promise<void> {
  await sql`select from dlq.dlq_topics limit 0`
}
