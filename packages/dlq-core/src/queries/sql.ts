// The first argument of every query: a pool or a transaction. The caller owns the transaction.

import type postgres from 'postgres'

export type Sql = postgres.ISql<{ bigint: bigint; json: string }>

/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** One JSON parameter, such as rows for json_to_recordset; bigints as text, which PostgreSQL reads as numbers. */
export function toJson(json: object): string {
  return JSON.stringify(json, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
}

/**
 * Values of one column as the text of a PostgreSQL array, for `unnest` in frequent statements. For each row,
 * json_to_recordset makes a hash table of its fields, and JSON.stringify calls the function that writes bigints.
 */
export function toArray(values: readonly (string | number | bigint | Date | null)[]): string {
  return `{${values.map(toElement).join(',')}}`
}

function toElement(value: string | number | bigint | Date | null): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return /[\\"]/.test(value) ? `"${value.replaceAll(/[\\"]/g, '\\$&')}"` : `"${value}"`
  return value instanceof Date ? `"${value.toISOString()}"` : String(value)
}

/** An array from a subquery: the planner expects ten ids. If it knew their number, it would read the whole partition. */
export function idsAsFew(sql: Sql, ids: readonly string[]) {
  return sql`array(select unnest(${sql.array([...ids])}::uuid[]))`
}
