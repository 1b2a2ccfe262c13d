// dlq_idempotency_keys: what requests with an Idempotency-Key have made, so that asking again makes nothing more.

import { smallestId } from '../../domain/record/message-id.ts'
import type { Sql } from '../sql.ts'

export type IdempotencyKey = { actor: string; key: string }

/** What a request has made: one of the two. */
export type Made = { message_id: string; run_id?: never } | { run_id: string; message_id?: never }

/** An earlier request: the SHA-256 of what it asked for, and what it has made. */
export type EarlierRequest = { request: Buffer; made: 'message' | 'run'; made_id: string }

/** How long keys are kept. A client asks again after a time-out, not after a week. */
export const idempotencyKeyDays = 7

/**
 * The earlier request with this key, or null where the key is new. A second request at the same time waits here
 * until the transaction of the first one has ended.
 *
 * @param request the SHA-256 of the request
 */
export async function claimIdempotencyKey(
  sql: Sql,
  { actor, key, request }: IdempotencyKey & { request: Buffer },
): Promise<EarlierRequest | null> {
  const claimed = await sql`
    insert into dlq.dlq_idempotency_keys (actor, key, request, message_id)
    values (${actor}, ${key}, ${request}, ${smallestId})
    on conflict (actor, key) do nothing`
  if (claimed.count > 0) return null
  // The key may have expired between the two statements. It is then claimed like a new one.
  return (await findIdempotencyKey(sql, { actor, key })) ?? claimIdempotencyKey(sql, { actor, key, request })
}

/** The earlier request with this key; null where there is none, or its transaction has not ended. */
export async function findIdempotencyKey(sql: Sql, { actor, key }: IdempotencyKey): Promise<EarlierRequest | null> {
  const [known] = await sql<EarlierRequest[]>`
    select request, case when run_id is null then 'message' else 'run' end as made, coalesce(run_id, message_id) as made_id
    from dlq.dlq_idempotency_keys
    where actor = ${actor} and key = ${key}`
  return known ?? null
}

/** Stores what the request with a new key has made, and deletes some keys that are too old. */
export async function noteMade(sql: Sql, { actor, key }: IdempotencyKey, made: Made): Promise<void> {
  await sql`
    with old as materialized (
      select actor, key from dlq.dlq_idempotency_keys
      where created_at < now() - make_interval(days => ${idempotencyKeyDays}::int)
      limit 100
      for update skip locked
    ),
    forgotten as (
      delete from dlq.dlq_idempotency_keys k using old where k.actor = old.actor and k.key = old.key
    )
    update dlq.dlq_idempotency_keys set ${sql(made)} where actor = ${actor} and key = ${key}`
}

/** Deletes at most `limit` keys that were used first before `before`. Returns how many. */
export async function deleteOldIdempotencyKeys(
  sql: Sql,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_idempotency_keys
    where (actor, key) in (
      select actor, key from dlq.dlq_idempotency_keys where created_at < ${before} order by created_at limit ${limit})`
  return result.count
}

/** Keys of runs whose texts are erased: the SHA-256 of a request tells whoever guesses what it asked for. */
export async function forgetKeysOfRuns(sql: Sql, runIds: readonly string[]): Promise<void> {
  await sql`delete from dlq.dlq_idempotency_keys where run_id = any(${sql.array([...runIds])}::uuid[])`
}
