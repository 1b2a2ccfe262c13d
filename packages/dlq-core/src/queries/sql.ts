// The handle that every query takes first: a pool or a transaction alike. Who calls owns the transaction.

import type postgres from 'postgres'

export type Sql = postgres.ISql<{ bigint: bigint; json: string }>

/** Rows as one JSON parameter, for json_to_recordset; bigints as text, which PostgreSQL reads as numbers. */
export function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
}
