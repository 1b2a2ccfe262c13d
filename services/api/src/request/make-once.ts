// Requests with an Idempotency-Key: whoever lost an answer asks again, and nothing more is made.

import { createHash } from 'node:crypto'
import {
  claimIdempotencyKey,
  type EarlierRequest,
  findIdempotencyKey,
  idempotencyKeyDays,
  type Made as MadeRow,
  noteMade,
} from 'dlq-core/queries/change/idempotency-keys.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import * as v from 'valibot'
import { ApiError } from '../http/api-error.ts'

export const keyHeader = {
  'idempotency-key': v.optional(
    v.pipe(
      v.string(),
      v.minLength(1, 'must not be empty'),
      v.maxLength(255, 'must be at most 255 characters'),
      v.description(
        `Any text that is new for each thing to make. Asking again with it within ${idempotencyKeyDays} days makes nothing more.`,
      ),
    ),
  ),
}

export const replayedHeader = { 'Idempotency-Replayed': '`true` where an earlier request has made it.' }

/** `request`: what the key stands for. */
export type Once = { actor: string; key: string | undefined; request: () => string }

export type Made = { id: string; replayed: boolean }

/**
 * What an earlier request with this key has made; null where there is none yet.
 *
 * @throws {ApiError} 409 where the key was used for another request
 */
export async function madeBefore(sql: Sql, { actor, key, request }: Once): Promise<Made | null> {
  const before = key === undefined ? null : await findIdempotencyKey(sql, { actor, key })
  return before && sameRequest(before, hashOf(request))
}

/**
 * Makes it, once per key.
 *
 * @throws {ApiError} 409 where the key was used for another request
 */
export async function makeOnce(
  sql: Transaction,
  { actor, key, request }: Once,
  make: () => Promise<MadeRow>,
): Promise<Made> {
  if (key === undefined) return { id: idOf(await make()), replayed: false }
  const hash = hashOf(request)
  const before = await claimIdempotencyKey(sql, { actor, key, request: hash })
  if (before !== null) return sameRequest(before, hash)
  const made = await make()
  await noteMade(sql, { actor, key }, made)
  return { id: idOf(made), replayed: false }
}

const idOf = (made: MadeRow) => made.message_id ?? made.run_id

const hashOf = (request: () => string) => createHash('sha256').update(request()).digest()

function sameRequest({ request, made, made_id: id }: EarlierRequest, hash: Buffer): Made {
  if (request.equals(hash)) return { id, replayed: true }
  const message = `was used for another request, which made ${made} ${id}`
  throw new ApiError('SYS_DLQ_CONFLICT', `the Idempotency-Key ${message}`, [{ field: 'idempotency-key', message }])
}
