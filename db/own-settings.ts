// What the sessions of this folder's programs rely on. A server, a database or a role may have it otherwise: the role of the
// services has a limit for statements behind PgBouncer (infra/docs/configuration.md), and building an index takes longer.

import type pg from 'pg'

const settings = {
  statement_timeout: '0',
  // PostgreSQL 17 and later.
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  default_transaction_isolation: 'read committed',
  // The driver, and texts that hashes are made of.
  DateStyle: 'ISO, MDY',
  // Migrations change the texts of functions and triggers.
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  // Where the extension goes; every other name has its schema.
  search_path: 'public, migrations',
}

/** Sets them until the session ends. */
export async function useOwnSettings(client: pg.ClientBase): Promise<void> {
  await client.query(
    `select set_config(wanted.key, wanted.value, false)
     from json_each_text($1) as wanted (key, value)
     join pg_settings known on lower(known.name) = lower(wanted.key)`,
    [JSON.stringify(settings)],
  )
}
