// dlq_erasures and dlq_erasure_keys: what is recognised as erased when it comes again.

import { erasureKey, placeDigest } from '../../domain/erase/erasure-digest.ts'
import type { RecordPlace } from '../../domain/record/record-place.ts'
import type { Sql } from '../sql.ts'

export type ErasureKey = { hmac_key: Buffer; version: bigint }

/** The keys of the HMACs; none where nothing was ever erased. Until the transaction ends, no erasure begins. */
export async function readErasureKeys(sql: Sql): Promise<ErasureKey[]> {
  const rows = await sql<ErasureKey[]>`select hmac_key, version from dlq.dlq_erasure_keys order by hmac_key`
  return [...rows]
}

/** Digests are hexadecimal digits. */
export type Erasure = { digest: string; topics: string[] | null; cutoff: Date }

export async function findErasures(sql: Sql, digests: readonly string[]): Promise<Erasure[]> {
  if (digests.length === 0) return []
  const texts = sql.array([...new Set(digests)])
  return sql<Erasure[]>`
    select encode(digest, 'hex') as digest, topics, cutoff from dlq.dlq_erasures
    where digest = any(array(select decode(hex, 'hex') from unnest(${texts}::text[]) as asked (hex)))`
}

/** Waits until every transaction that stores dead letters is over, and lets no other begin before this one has ended. */
export async function holdUpStoring(sql: Sql): Promise<void> {
  // Each of them reads this table.
  await sql`lock table dlq.dlq_erasure_keys in access exclusive mode`
}

/** Holds up storing. Returns the key of the HMACs, and the time before which records are erased. */
export async function beginErasure(
  sql: Sql,
  { newKey }: { newKey: Buffer },
): Promise<{ hmacKey: Buffer; cutoff: string }> {
  await holdUpStoring(sql)
  await sql`
    insert into dlq.dlq_erasure_keys (hmac_key) select ${newKey} where not exists (select from dlq.dlq_erasure_keys)`
  const [row] = await sql<[{ hmac_key: Buffer; cutoff: string }]>`
    update dlq.dlq_erasure_keys set version = version + 1
    where hmac_key = (select min(hmac_key::text)::bytea from dlq.dlq_erasure_keys)
    returning hmac_key, clock_timestamp()::text as cutoff`
  return { hmacKey: row.hmac_key, cutoff: row.cutoff }
}

export async function insertErasures(
  sql: Sql,
  {
    runId,
    hmacKey,
    digests,
    topics,
    cutoff,
  }: { runId: string; hmacKey: Buffer; digests: readonly string[]; topics: readonly string[] | null; cutoff: string },
): Promise<void> {
  if (digests.length === 0) return
  const texts = sql.array([...digests])
  await sql`
    insert into dlq.dlq_erasures (digest, hmac_key, topics, cutoff, run_id)
    select decode(hex, 'hex'), ${hmacKey}, ${topics === null ? null : sql.array([...topics])}::text[],
           ${cutoff}::text::timestamptz, ${runId}
    from unnest(${texts}::text[]) as erased (hex)
    on conflict (digest, run_id) do nothing`
}

/** Notes where erased messages were published to. A record that fails there is theirs, unless its topic was created again later. */
export async function insertErasedPlaces(
  sql: Sql,
  { runId, hmacKey, places }: { runId: string; hmacKey: Buffer; places: readonly RecordPlace[] },
): Promise<void> {
  if (places.length === 0) return
  const digestKey = erasureKey(hmacKey)
  // No record that was sent by now has a later time: a clock may be ahead.
  const [row] = await sql<[{ until: string }]>`select (clock_timestamp() + interval '1 hour')::text as until`
  const digests = places.map((place) => placeDigest(digestKey, place))
  await insertErasures(sql, { runId, hmacKey, digests, topics: null, cutoff: row.until })
}

/** The run's erasures of these digests hold no longer. */
export async function takeBackErasures(
  sql: Sql,
  { runId, digests }: { runId: string; digests: readonly string[] },
): Promise<void> {
  if (digests.length === 0) return
  await sql`
    delete from dlq.dlq_erasures
    where run_id = ${runId}
      and digest = any(array(select decode(hex, 'hex') from unnest(${sql.array([...digests])}::text[]) as taken (hex)))`
}

/** Marks stored messages as erased: nothing is left of them but their place. */
export async function markErased(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update dlq.dlq_messages set status = 'DEAD', erased_at = now(), next_retry_at = null
    where id = any(${sql.array([...ids])}::uuid[]) and status <> 'RETRYING'`
}

/** Of a proof, in a database that was restored. */
export async function addErasureKey(sql: Sql, hmacKey: Buffer): Promise<void> {
  await sql`
    insert into dlq.dlq_erasure_keys as k (hmac_key) values (${hmacKey})
    on conflict (hmac_key) do update set version = k.version + 1`
}
