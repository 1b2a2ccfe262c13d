// The first argument of every query: a pool or a transaction. The caller owns the transaction.

import type postgres from 'postgres'

export type Sql = postgres.ISql<{ bigint: bigint; json: string }>

/** Rows as one JSON parameter, for json_to_recordset; bigints as text, which PostgreSQL reads as numbers. */
export function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/** An array from a subquery: the planner expects ten ids. If it knew their number, it would read the whole partition. */
export function idsAsFew(sql: Sql, ids: readonly string[]) {
  return sql`array(select unnest(${sql.array([...ids])}::uuid[]))`
}
