// dlq_deferred_payloads: which messages were stored without their payload, because the ingester was behind, and are to get it.

import type { PartitionOf } from '../ingest/positions.ts'
import { type Sql, toJson } from '../sql.ts'

export type IdRange = { from: string; until: string }

/** Widens the partition's range. In the transaction that stores the messages. */
export async function deferPayloads(
  sql: Sql,
  { cluster, topic, partition, from, until }: PartitionOf & IdRange,
): Promise<void> {
  await sql`
    insert into dlq.dlq_deferred_payloads as known (cluster, topic, partition, from_id, until_id)
    values (${cluster}, ${topic}, ${partition}, ${from}, ${until})
    on conflict (cluster, topic, partition) do update set
      from_id = least(known.from_id, excluded.from_id), until_id = greatest(known.until_id, excluded.until_id), updated_at = now()`
}

/** Whether there are messages whose payload is not stored yet: a filter by payload does not find them. */
export async function hasDeferredPayloads(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ any: boolean }]>`select exists (select from dlq.dlq_deferred_payloads) as any`
  return row.any
}

export type DeferredRange = PartitionOf & IdRange

/** Locks the range that has waited longest, of those that no ingester widened for `quietMs`. Null where there is none. */
export async function lockDeferred(sql: Sql, { quietMs }: { quietMs: number }): Promise<DeferredRange | null> {
  const [row] = await sql<DeferredRange[]>`
    select cluster, topic, partition, from_id as from, until_id as until
    from dlq.dlq_deferred_payloads
    where updated_at < now() - ${quietMs}::float8 * interval '1 ms'
    order by updated_at
    limit 1
    for update skip locked`
  return row ?? null
}

export type Unprojected = {
  id: string
  original_topic: string
  dlq_topic: string | null
  record_value: Buffer
  record_headers: string | null
}

/**
 * Locks the messages without a payload among the first `examine` of the range. `last` is the last one looked at; null
 * where the range ended before.
 *
 * @param maxBytes bounds the bytes that are read; a larger value is left as it is
 */
export async function lockUnprojected(
  sql: Sql,
  { from, until, examine, maxBytes }: IdRange & { examine: number; maxBytes: number },
): Promise<{ messages: Unprojected[]; last: string | null }> {
  const [end] = await sql<{ last: string; examined: number }[]>`
    select max(id::text) as last, count(*)::int as examined from (
      select id from dlq.dlq_messages where id >= ${from} and id <= ${until} order by id limit ${examine}) looked`
  const last = end!.examined < examine ? null : end!.last
  const messages = await sql<Unprojected[]>`
    select id, original_topic, dlq_topic, record_value, record_headers from dlq.dlq_messages
    where id >= ${from} and id <= ${last ?? until} and payload is null and decode_state is null
      and octet_length(record_value) between 1 and ${maxBytes}
    order by id
    for no key update`
  return { messages, last }
}

/** Stores payloads of locked messages. Their updated_at stays. */
export async function storePayloads(sql: Sql, payloads: readonly { id: string; payload: string }[]): Promise<void> {
  if (payloads.length === 0) return
  await sql`
    update dlq.dlq_messages m set payload = found.payload::jsonb
    from json_to_recordset(${toJson(payloads)}::json) as found (id uuid, payload text)
    -- The ids again, because the planner expects a hundred rows of the JSON and may read every partition for the join.
    where m.id = found.id and m.id = any(${sql.array(payloads.map(({ id }) => id))}::uuid[])
      and m.payload is null and m.record_value is not null`
}

/** Lets a locked range begin behind `last`, or ends it. */
export async function shortenDeferred(
  sql: Sql,
  { cluster, topic, partition, last }: PartitionOf & { last: string | null },
): Promise<void> {
  if (last === null) {
    await sql`
      delete from dlq.dlq_deferred_payloads where cluster = ${cluster} and topic = ${topic} and partition = ${partition}`
    return
  }
  await sql`
    update dlq.dlq_deferred_payloads set from_id = ${last}
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition}`
}
