// The SQL functions by which an application handles its dead letters (db/dlq/migrations/014), typed.

import type postgres from 'postgres'

/** A pool or a transaction, with any parsing of types. */
export type Sql = postgres.Sql | postgres.TransactionSql

/** A claimed message. */
export type DeadLetter = {
  readonly id: string
  readonly topic: string
  /** JSON as the driver parses it; null if the value is not JSON. */
  readonly payload: unknown
  readonly value: Buffer | null
  readonly key: Buffer | null
  /** [name, text] pairs, in order. */
  readonly headers: unknown
  readonly errorClass: string | null
  readonly errorMessage: string
  /** The running attempt's number, from 1. */
  readonly attempt: number
  readonly maxRetries: number
  readonly createdAt: Date
  /** Identifies the lease. */
  readonly token: string
}

const seconds = (ms: number) => ms / 1000

/** As text, because the driver knows arrays only after fetching the types, which a pool may disable. */
const idList = (ids: readonly string[]) => ids.join()

export async function claimMessages(
  sql: Sql,
  { topic, limit, leaseMs, maxRetries }: { topic: string; limit: number; leaseMs: number; maxRetries: number | null },
): Promise<DeadLetter[]> {
  return sql<DeadLetter[]>`
    select id, original_topic as topic, payload, record_value as value, record_key as key, record_headers as headers,
           error_class as "errorClass", error_message as "errorMessage", retry_count as attempt,
           max_retries as "maxRetries", created_at as "createdAt", lease_token as token
    from dlq.claim_messages(${topic}, ${limit}::int, make_interval(secs => ${seconds(leaseMs)}::float8), ${maxRetries}::int)`
}

/** False if the lease was lost: another instance handles the message, or has handled it. */
export async function resolveMessage(sql: Sql, { id, token }: DeadLetter): Promise<boolean> {
  const rows = await sql`select from dlq.resolve_messages(array[${id}]::uuid[], ${token}::uuid)`
  return rows.length > 0
}

/** The message's new status; null if the lease was lost. `retryAfterMs` null: its policy's wait. */
export async function failMessage(
  sql: Sql,
  { id, token }: DeadLetter,
  { error, retryAfterMs }: { error: Error; retryAfterMs: number | null },
): Promise<'PENDING' | 'DEAD' | null> {
  // PostgreSQL's text cannot hold NUL.
  const text = (value: string | undefined) => value?.replaceAll('\0', '\ufffd') ?? null
  const [row] = await sql<[{ status: 'PENDING' | 'DEAD' | null }]>`
    select dlq.fail_message(
      ${id}::uuid, ${token}::uuid, ${text(error.message)}, ${text(error.name)!.slice(0, 512)}, ${text(error.stack)},
      make_interval(secs => ${retryAfterMs === null ? null : seconds(retryAfterMs)}::float8)) as status`
  return row.status
}

export async function releaseMessages(sql: Sql, messages: readonly DeadLetter[]): Promise<void> {
  if (messages.length === 0) return
  await sql`select from dlq.release_messages(string_to_array(${idList(messages.map(({ id }) => id))}, ',')::uuid[], ${messages[0]!.token}::uuid)`
}

/** Returns the ids whose lease still holds. */
export async function extendLeases(
  sql: Sql,
  { ids, token, leaseMs }: { ids: readonly string[]; token: string; leaseMs: number },
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from dlq.extend_leases(
      string_to_array(${idList(ids)}, ',')::uuid[], ${token}::uuid, make_interval(secs => ${seconds(leaseMs)}::float8)) as id`
  return new Set(rows.map(({ id }) => id))
}

export type Pass = { topic: string; by: string }

export async function beginPass(sql: Sql, { topic, by }: Pass, { atMostMs }: { atMostMs: number }): Promise<boolean> {
  const [row] = await sql<[{ begun: boolean }]>`
    select dlq.begin_pass(${topic}, ${by}, make_interval(secs => ${seconds(atMostMs)}::float8)) as begun`
  return row.begun
}

export async function extendPass(sql: Sql, { topic, by }: Pass, { atMostMs }: { atMostMs: number }): Promise<boolean> {
  const [row] = await sql<[{ extended: boolean }]>`
    select dlq.extend_pass(${topic}, ${by}, make_interval(secs => ${seconds(atMostMs)}::float8)) as extended`
  return row.extended
}

/** No other application pass begins before `atLeastMs` after this one began. */
export async function endPass(sql: Sql, { topic, by }: Pass, { atLeastMs }: { atLeastMs: number }): Promise<void> {
  await sql`select dlq.end_pass(${topic}, ${by}, make_interval(secs => ${seconds(atLeastMs)}::float8))`
}
