// What db/erase-again.ts does in a database that was restored from a backup of before an erasure, or of its middle.

import { openProof, sealProof } from 'dlq-core/domain/erase/erase-proof.ts'
import { erasureKey, placeDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import { findErasures } from 'dlq-core/queries/erase/erasures.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { eraseAgain } from '../../../../db/erase-again.ts'
import {
  canary,
  canaryKey,
  carryOut,
  enterErasure,
  findCanary,
  plant,
  plantCancelledRun,
  plantRun,
} from './test-canary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const keyed = { record_key: Buffer.from(canary), record_value: Buffer.from(canary) }

beforeEach(() =>
  emptyTables(
    database.sql,
    ...['dlq.dlq_messages', 'dlq.dlq_messages_archive', 'dlq.dlq_message_edits', 'dlq.dlq_attempts', 'dlq.dlq_slots'],
    ...['dlq.dlq_runs', 'dlq.dlq_erasures', 'dlq.dlq_erasure_keys', 'dlq.dlq_erase_items'],
  ),
)

/** Erases the canary's key. Returns the proof. */
async function erase(): Promise<string> {
  const id = await enterErasure(service.sql, { keys: [canaryKey] })
  return (await carryOut(service.sql, id)).proof
}

test('what a restore has brought back is erased, by the proof', async () => {
  const id = await plant(database)
  const proof = await erase()
  const back = [await plant(database), await plant(database, { archived: true })]
  await plantRun(database)
  await plantCancelledRun(database)
  await database.sql`update dlq.dlq_messages set created_at = '2020-01-01'`
  await database.sql`update dlq.dlq_messages_archive set created_at = '2020-01-01'`
  await database.sql`delete from dlq.dlq_runs where kind = 'erase'`
  expect(await eraseAgain(service.sql, proof)).toBeGreaterThanOrEqual(back.length)
  expect(await findCanary(database)).toEqual([])
  expect(await readMessageRow(database.sql, id)).toMatchObject({ error_message: 'erased' })
  await expect(eraseAgain(service.sql, proof.replace('ticket', 'tocket'))).rejects.toThrow('SHA-256')
})

test('the Idempotency-Key of the request that a restore has brought back is forgotten: its hash tells a guessed key', async () => {
  const proof = await erase()
  await database.sql`
    insert into dlq.dlq_idempotency_keys (actor, key, request, message_id, run_id)
    values ('ann', 'again', sha256('a guess'), gen_random_uuid(), ${JSON.parse(proof).run_id})`
  await eraseAgain(service.sql, proof)
  expect(await database.sql`select from dlq.dlq_idempotency_keys where key = 'again'`).toHaveLength(0)
})

test('a message that was erased by its id is, too, whatever key it has', async () => {
  const id = await insertMessageRow(database.sql, { record_value: Buffer.from(canary) })
  const run = await enterErasure(service.sql, { ids: [id] })
  const { proof } = await carryOut(service.sql, run)
  await database.sql`
    update dlq.dlq_messages set record_value = ${Buffer.from(canary)}, erased_at = null where id = ${id}`
  expect(await eraseAgain(service.sql, proof)).toBe(1)
  expect(await readMessageRow(database.sql, id)).toMatchObject({ error_message: 'erased', record_value: null })
})

test('the places of retries are known again', async () => {
  const id = await insertMessageRow(database.sql, keyed)
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, gen_random_uuid(), 'published', 'orders', 1, 98, now())`
  const proof = await erase()
  await emptyTables(database.sql, 'dlq.dlq_erasures')
  await eraseAgain(service.sql, proof)
  const key = erasureKey(Buffer.from(openProof(proof).hmac_key, 'base64'))
  const digest = placeDigest(key, { topic: 'orders', partition: 1, offset: 98n })
  expect(await findErasures(service.sql, [digest])).toHaveLength(1)
})

test('a message that was being sent at the backup is erased, and its attempt is unknown', async () => {
  const id = await insertMessageRow(database.sql, keyed)
  const proof = await erase()
  await database.sql`
    insert into dlq.dlq_slots (slot, epoch, batch, owner, owner_until) values (7, 3, 9, 'r', now() + interval '1 hour')`
  await database.sql`
    update dlq.dlq_messages set record_key = ${Buffer.from(canary)}, record_value = ${Buffer.from(canary)},
      erased_at = null, status = 'RETRYING', retry_count = 1, lease_slot = 7, lease_batch = 9`
  expect(await eraseAgain(service.sql, proof)).toBe(1)
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    ...{ status: 'DEAD', record_key: null, record_value: null, lease_slot: null, lease_batch: null },
  })
  // Its retrier, if it lived, could not settle it: the epoch is another.
  const [slot] = await database.sql`select epoch::int, batch::int, owner from dlq.dlq_slots`
  expect(slot).toEqual({ epoch: 4, batch: 9, owner: null })
  const [attempt] = await database.sql`
    select number, outcome, unknown_at is not null as is_unknown from dlq.dlq_attempts where message_id = ${id}`
  expect(attempt).toEqual({ number: 1, outcome: 'unknown', is_unknown: true })
})

test('records of the key from after the erasure stay, in messages, the archive and edits', async () => {
  const proof = await erase()
  const later = { created_at: new Date(Date.parse(openProof(proof).cutoff) + 60_000) }
  const earlier = { created_at: new Date(Date.parse(openProof(proof).cutoff) - 60_000) }
  const live = await insertMessageRow(database.sql, { ...keyed, ...later })
  const archived = await insertMessageRow(database.sql, { ...keyed, ...later, status: 'RESOLVED' })
  await database.sql`select dlq.archive_messages(array[${archived}]::uuid[])`
  const edited = [later, earlier].map((time) => insertMessageRow(database.sql, { ...time, edits: 1 }))
  for (const id of await Promise.all(edited))
    await database.sql`
      insert into dlq.dlq_message_edits (message_id, number, actor, fields, record_key)
      values (${id}, 1, 'ann', '{key}', ${Buffer.from(canary)})`
  expect(await eraseAgain(service.sql, proof)).toBe(1)
  expect(await readMessageRow(database.sql, live)).toMatchObject({ record_value: keyed.record_value, erased_at: null })
  const [kept] = await database.sql`select record_value from dlq.dlq_messages_archive where id = ${archived}`
  expect(kept!.record_value).toEqual(keyed.record_value)
  expect(await readMessageRow(database.sql, (await edited[0])!)).toMatchObject({ erased_at: null })
  expect(await readMessageRow(database.sql, (await edited[1])!)).toMatchObject({ erased_at: expect.any(Date) })
})

test('messages of other topics than those of the erasure stay, also by a key that an edit replaced', async () => {
  const run = await enterErasure(service.sql, { keys: [canaryKey], topics: ['orders'] })
  const { proof } = await carryOut(service.sql, run)
  const created_at = new Date('2020-01-01')
  const [mine, other] = await Promise.all(
    ['orders', 'payments'].map((original_topic) =>
      insertMessageRow(database.sql, { original_topic, created_at, edits: 1 }),
    ),
  )
  for (const id of [mine!, other!])
    await database.sql`
      insert into dlq.dlq_message_edits (message_id, number, actor, fields, record_key)
      values (${id}, 1, 'ann', '{key}', ${Buffer.from(canary)})`
  expect(await eraseAgain(service.sql, proof)).toBe(1)
  expect(await readMessageRow(database.sql, mine!)).toMatchObject({ erased_at: expect.any(Date) })
  expect(await readMessageRow(database.sql, other!)).toMatchObject({ erased_at: null })
})

test('a run that was under way in the backup is ended, and its saga ends with it', async () => {
  await plant(database)
  const id = await enterErasure(service.sql, { keys: [canaryKey] })
  await carryOut(service.sql, id, { before: 'erase' })
  expect(await findCanary(database)).toContain('dlq.dlq_erase_items')
  // The proof that the run wrote after the backup.
  const [{ hmac_key }] = (await database.sql`select hmac_key from dlq.dlq_erasure_keys`) as unknown as [
    { hmac_key: Buffer },
  ]
  const ids = (await database.sql<{ id: string }[]>`select id from dlq.dlq_messages`).map((row) => row.id)
  const [{ digest }] =
    (await database.sql`select encode(digest, 'hex') as digest from dlq.dlq_erasures`) as unknown as [
      { digest: string },
    ]
  const proof = sealProof({
    ...{ run_id: id, mode: 'contents', actor: 'ann', reason: 'ticket 17', topics: null, ids, counts: {}, remaining: 0 },
    ...{ requested_at: new Date().toISOString(), finished_at: new Date().toISOString(), copies_in_kafka: [] },
    ...{ cutoff: new Date().toISOString(), hmac_key: hmac_key.toString('base64'), keys: [digest] },
  })
  expect(await eraseAgain(service.sql, proof)).toBe(1)
  // Its saga goes on when the retriers start.
  const run = await carryOut(service.sql, id)
  expect(run).toMatchObject({ status: 'completed', selection: '{"ids":[]}' })
  expect(openProof(run.proof).ids).toEqual(ids)
  expect(await findCanary(database)).toEqual([])
})
