// Stores one batch of one partition, in one transaction with the position after it. So a crash, a rebalance, a zombie or
// a second ingester changes nothing: every record below the position is stored, and is dropped when it is read again.

import {
  type DeadLetter,
  type NewMessage,
  type ReadingSettings,
  readDeadLetter,
} from 'dlq-core/domain/message/new-message.ts'
import type { DeadLetterRecord, Records } from 'dlq-core/domain/record/record.ts'
import { placeKey } from 'dlq-core/domain/record/record-place.ts'
import { markErased } from 'dlq-core/queries/erase/erasures.ts'
import {
  copyMessages,
  type EncodedMessages,
  ensureMessagePartition,
  forgetEncoded,
  lockStored,
} from 'dlq-core/queries/ingest/message-insert.ts'
import { lockPosition, movePosition, type PartitionOf } from 'dlq-core/queries/ingest/positions.ts'
import { deferPayloads, type IdRange } from 'dlq-core/queries/upkeep/deferred-payloads.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import { isDatabaseAway, isMissingPartition } from 'dlq-core/runtime/database/database-errors.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { Decoder } from '../decode/decode-letters.ts'
import { type ComparedOrigin, compareOriginals } from '../read/compare-originals.ts'
import { type EarlyRows, EarlyRowsOutdated, readEarly, type StoredMessage, widened } from '../read/early-rows.ts'
import {
  type Erasures,
  ErasuresChanged,
  forgetErased,
  requireSameErasures,
  searchErased,
} from '../read/forget-erased.ts'
import type { ConsumerRegister } from '../registers/consumer-register.ts'
import { FramesGone, type FramesRegister } from '../registers/frames-register.ts'
import type { GroupRegister } from '../registers/group-register.ts'
import type { Lag } from '../registers/lag.ts'
import type { RouteRegister } from '../registers/route-register.ts'
import type { Setbacks } from '../registers/setbacks.ts'
import { type CorrelateDeps, correlateByAttempt, findUnplaced } from './correlate-by-attempt.ts'
import { correlateByPlace, findPublished, type LookedAt } from './correlate-by-place.ts'
import { insertReducing } from './insert-reducing.ts'
import { reopenRepublished } from './reopen-republished.ts'
import { storeOrigins } from './store-origins.ts'

export type Batch = PartitionOf & {
  /** Where the fetch began. `records` has every committed record from there to `nextOffset`. */
  fetchedOffset: bigint
  /** The offset after the last record of the batch, control records and gaps included. */
  nextOffset: bigint
  /** Where the log ended when this was fetched. */
  highWatermark: bigint
  /** Of the leader that wrote the last record of the fetch, or a part of it; null where that is not known. */
  lastEpoch: number | null
  records: Records
}

export type StoreOutcome =
  | {
      kind: 'stored'
      stored: number
      reopened: number
      dropped: number
      reduced: number
      /** Of the stored ones, those whose rows were written as their records were read. */
      early: number
      /** Of all keys and values that were read from the DLQ topic. */
      bytes: number
      /** The new messages, in the order of their records. */
      messages: readonly StoredMessage[]
    }
  /** The fetch began after `expectedOffset`: the records between would be lost. */
  | { kind: 'hole'; expectedOffset: bigint }
  /** The position is beyond the log's end: the topic was deleted and created again, or the log was cut. */
  | ({ kind: 'recreated' } & SeenPosition)
  /** There is another leader than that of the last record that was stored. It may have cut the log. */
  | ({ kind: 'another-leader' } & SeenPosition)

/** `epoch`: of the leader that wrote the record before the position; null where that is not known. */
export type SeenPosition = { seenOffset: bigint; epoch: number | null }

export type StoreDeps = {
  sql: Database
  settings: ReadingSettings
  lag: Lag
  groups: GroupRegister
  frames: FramesRegister
  routes: RouteRegister
  consumers: ConsumerRegister
  setbacks: Setbacks
  /** Fetches the originals of dead letters without bytes. */
  complete: (records: readonly DeadLetterRecord[]) => Promise<readonly DeadLetterRecord[]>
  /** Decodes values that are not JSON. Null where only JSON is read. */
  decoder: Decoder | null
  fetchOriginals: CorrelateDeps['fetchOriginals']
  /** Null where only JSON is read. */
  payloads: PayloadReader | null
  /** Larger values are not stored. */
  maxValueBytes: number
  now: () => Date
  random: () => number
}

export type StoreOptions = {
  /**
   * Where the log begins now. The caller gives it when retention may have deleted records before they were read: a position
   * below it is then no hole.
   */
  lowOffset?: bigint
  /** The log was not cut below the position. */
  isUncut?: boolean
}

/** Stores a batch. */
export async function storeBatch(deps: StoreDeps, batch: Batch, options: StoreOptions = {}): Promise<StoreOutcome> {
  const read = (how = { isEarly: deps.setbacks.mayTry(batch) }) => readWork(deps, batch, options, how)
  let work = await read()
  for (let partitionsMade = false, framesStored = false; ; ) {
    try {
      const outcome = await deps.sql.begin((sql) => storeLetters(sql, work))
      if (work.early !== null) forgetEncoded(work.early.encoded)
      return outcome
    } catch (error) {
      if (isMissingPartition(error) && !partitionsMade) {
        await makePartitions(deps.sql, work)
        partitionsMade = true
      } else if (error instanceof EarlyRowsOutdated) {
        deps.setbacks.note(batch)
        work = await read({ isEarly: false })
      } else if (error instanceof FramesGone && !framesStored) {
        work = await read()
        framesStored = true
      } else if (error instanceof ErasuresChanged) {
        work = await read()
      } else if (!isDatabaseAway(error) && !work.mayRefuse) {
        // Rare: PostgreSQL refuses a row, or has it already. COPY does not say which; inserting finds out.
        if (work.early !== null) work = await read({ isEarly: false })
        work.mayRefuse = true
      } else throw error
    }
  }
}

/**
 * Stores batches of different partitions in one transaction. Returns their outcomes in the same order.
 *
 * @throws where any of them cannot be stored. None is stored then
 */
export async function storeTogether(
  deps: StoreDeps,
  batches: readonly { batch: Batch; options: StoreOptions }[],
): Promise<StoreOutcome[]> {
  const works: Work[] = []
  // Small ones: memory for the rows of each would be larger than they are.
  for (const { batch, options } of batches) works.push(await readWork(deps, batch, options, { isEarly: false }))
  const outcomes = new Map<Work, StoreOutcome>()
  await deps.sql.begin(async (sql) => {
    // Positions are locked in one order, because another ingester may store the same partitions for a moment.
    for (const work of works.toSorted(byPlace)) outcomes.set(work, await storeLetters(sql, work))
  })
  return works.map((work) => outcomes.get(work)!)
}

function byPlace({ batch: a }: Work, { batch: b }: Work): number {
  return a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1
}

/**
 * What is read, and made known to the database, before the transaction. `isEarly`: rows that can be are written at once.
 */
async function readWork(
  deps: StoreDeps,
  batch: Batch,
  options: StoreOptions,
  { isEarly }: { isEarly: boolean },
): Promise<Work> {
  const { sql, settings, lag, groups, frames, routes, consumers, complete, decoder, now, random } = deps
  const reading = { ...settings, isBehind: lag.isBehind(batch), traces: frames.traces }
  const at = now()
  let bytes = 0
  const read = (record: DeadLetterRecord) => {
    // Not of originals that were fetched.
    if (record.original === undefined) bytes += (record.key?.length ?? 0) + (record.value?.length ?? 0)
    return readDeadLetter(record, reading, at, random())
  }
  const some = isEarly ? readEarly({ ...deps, erased: await searchErased(sql) }, batch.records, read) : null
  // What was read until a record lacked its bytes is read again.
  if (some === null) bytes = 0
  const early = some?.early ?? null
  const left = some?.left ?? (await complete([...batch.records]))
  const whole = some?.letters ?? left.map(read)
  const [unplaced, published] = await Promise.all([
    findUnplaced({ sql, policyOf: settings.policyOf }, whole, early?.places),
    findPublished(sql, whole),
  ])
  const decoded = decoder === null ? whole : await decoder.decode(left, whole)
  const { letters: correlated, lookedAt } = await correlateByAttempt(deps, decoded, { unplaced, published })
  const { letters, erasures } =
    early !== null && correlated.length === 0
      ? { letters: correlated, erasures: early.erased.erasures }
      : await forgetErased(sql, correlated, lookedAt)
  if (early !== null && (await areOutdated(early, { unplaced, erasures }))) {
    forgetEncoded(early.encoded)
    deps.setbacks.note(batch)
    return readWork(deps, batch, options, { isEarly: false })
  }
  const compared = await compareOriginals(deps, letters)
  await groups.assign(letters)
  await routes.admit(letters)
  await consumers.admit(letters)
  await frames.learn(letters)
  return { deps, batch, bytes, early, letters, lookedAt, compared, erasures, options, mayRefuse: false }
}

/** Whether early rows are not what is to be stored. */
async function areOutdated(
  { places, erased }: EarlyRows,
  { unplaced, erasures }: { unplaced: ReadonlySet<string>; erasures: Erasures },
): Promise<boolean> {
  if (places.some(({ topic }) => unplaced.has(topic))) return true
  return erasures.marker !== erased.erasures.marker || (await erased.isAnyErased())
}

type Work = {
  deps: StoreDeps
  batch: Batch
  bytes: number
  early: EarlyRows | null
  /** Of the records whose rows are not among the early ones. */
  letters: readonly DeadLetter[]
  lookedAt: LookedAt
  compared: ReadonlyMap<string, ComparedOrigin>
  erasures: Erasures
  options: StoreOptions
  mayRefuse: boolean
}

async function storeLetters(
  sql: Transaction,
  { deps, batch, bytes, early, letters, lookedAt, compared, erasures, options, mayRefuse }: Work,
): Promise<StoreOutcome> {
  // Sent together.
  const [place, { letters: correlated, published }] = await Promise.all([
    lockPosition(sql, batch),
    correlateByPlace(sql, letters, { ...lookedAt, others: early?.places }),
    requireSameErasures(sql, erasures),
    // A row in its reduced form has another message, which framed headers would refer to.
    mayRefuse || deps.frames.confirm(sql, messagesOf(letters), early?.framesIds),
  ])
  if (published.some((place) => !lookedAt.places.has(placeKey(place))))
    throw new EarlyRowsOutdated('some may have failed again')
  const { next_offset: position, manual_below: manualBelow, stored_below: storedBelow, leader_epoch: epoch } = place
  const seen = { seenOffset: position, epoch }
  if (position > batch.highWatermark) return { kind: 'recreated', ...seen }
  const { lowOffset = 0n, isUncut = false } = options
  const isOfOther = epoch !== null && batch.lastEpoch !== null && batch.lastEpoch > epoch
  if (isOfOther && !isUncut) return { kind: 'another-leader', ...seen }
  const isDeleted = lowOffset > position
  const expectedOffset = isDeleted ? lowOffset : position
  if (batch.fetchedOffset > expectedOffset) return { kind: 'hole', expectedOffset }

  if (early !== null) {
    const { dlq_offset: first } = early.messages[0]!
    if (first < position || isBelow(first, manualBelow) || isBelow(first, storedBelow))
      throw new EarlyRowsOutdated('some are stored already, or are to be sent by hand only')
  }
  const unseen = await leaveStored(
    sql,
    correlated.filter(({ message }) => message.dlq_offset >= position),
    storedBelow,
  )
  // From before the topic's subscription: nothing of it is sent unless somebody asks.
  for (const { message } of unseen) if (isBelow(message.dlq_offset, manualBelow)) message.next_retry_at = null
  const fresh = messagesOf(unseen.filter(({ republished }) => republished === null))
  const claiming = unseen.filter(({ republished }) => republished !== null)
  const end = async (messages: readonly NewMessage[]) => {
    await markErased(
      sql,
      messages.map(({ id }) => id).filter((id) => erasures.erased.has(id)),
    )
    await storeOrigins(sql, messages, { ...deps, ...deps.settings, compared })
    const isMoved = batch.nextOffset > position
    const deferred = deferredOf(early, unseen)
    await Promise.all([
      deferred && deferPayloads(sql, { ...batch, ...deferred }),
      isMoved && movePosition(sql, { ...batch, next_offset: batch.nextOffset, leader_epoch: batch.lastEpoch }),
    ])
  }
  const store = async (
    messages: readonly NewMessage[],
    {
      encoded = null,
      beside = async () => {},
    }: { encoded?: EncodedMessages | null; beside?: () => Promise<void> } = {},
  ) => {
    if (!mayRefuse) {
      const stored = await copyMessages(sql, deps.frames.shorten(messages), { encoded, beside })
      return { stored, reduced: 0 }
    }
    const outcome = await insertReducing(sql, messages)
    await beside()
    return outcome
  }
  const encoded = early?.encoded ?? null
  const counts = { early: encoded?.count ?? 0, dropped: letters.length - unseen.length, bytes }
  if (claiming.length === 0) {
    // What follows is sent behind the rows, without a wait for the answer.
    const outcome = await store(fresh, { encoded, beside: () => end(fresh) })
    return { kind: 'stored', ...outcome, ...counts, reopened: 0, messages: inOrder(early, fresh) }
  }
  const first = await store(fresh, { encoded })
  // After the insert: a failure and its re-failure may stand in the same batch.
  const { reopened, added } = await reopenRepublished(sql, claiming, {
    ...{ policyOf: deps.settings.policyOf, routes: deps.routes, now: deps.now(), random: deps.random, manualBelow },
  })
  if (!mayRefuse) await deps.frames.confirm(sql, added)
  const messages = [...fresh, ...added]
  const second = await store(added, { beside: () => end(messages) })
  return {
    kind: 'stored',
    stored: first.stored + second.stored,
    reduced: first.reduced + second.reduced,
    reopened,
    ...counts,
    messages: inOrder(early, messages),
  }
}

function isBelow(offset: bigint, bound: bigint | null): boolean {
  return bound !== null && offset < bound
}

/** Somebody may have reset the position. A record that was read before is known by its message, which may be archived. */
async function leaveStored(
  sql: Transaction,
  letters: readonly DeadLetter[],
  storedBelow: bigint | null,
): Promise<readonly DeadLetter[]> {
  const again = messagesOf(letters).filter(({ dlq_offset }) => isBelow(dlq_offset, storedBelow))
  if (again.length === 0) return letters
  const stored = await lockStored(
    sql,
    again.map(({ id }) => id),
  )
  return letters.filter(({ message }) => !stored.has(message.id))
}

/** All new messages, in the order of their records. */
function inOrder(early: EarlyRows | null, others: readonly NewMessage[]): readonly StoredMessage[] {
  if (early === null) return others
  if (others.length === 0) return early.messages
  return [...early.messages, ...others].sort((a, b) => Number(a.dlq_offset - b.dlq_offset))
}

function messagesOf(letters: readonly DeadLetter[]): NewMessage[] {
  return letters.map(({ message }) => message)
}

function deferredOf(early: EarlyRows | null, letters: readonly DeadLetter[]): IdRange | null {
  const deferred = letters.filter(({ isPayloadDeferred }) => isPayloadDeferred)
  return deferred.reduce((range, { message }) => widened(range, message.id), early?.deferred ?? null)
}

async function makePartitions(sql: Database, { early, letters }: Work): Promise<void> {
  // Not those of messages that are restored: dlq.restore_messages makes them.
  const ids = [...messagesOf(letters), ...(early?.messages ?? [])].map(({ id }) => id)
  const months = new Map(ids.map((id) => [monthOf(id), id]))
  for (const id of months.values()) await ensureMessagePartition(sql, id)
}

/** The month whose partition holds the id, in UTC. */
function monthOf(id: string): string {
  const time = new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
  return time.toISOString().slice(0, -'-01T00:00:00.000Z'.length)
}
