// Looks for newer records of the keys of open messages, where a policy asks: one walk per partition for all of them, not
// one per message. Kafka cannot send keys alone, so the price is the traffic of the partitions; staleness.rate bounds it.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createPartitionScan,
  type Decided,
  keyText,
  type OpenMessage,
} from 'dlq-core/domain/staleness/partition-scan.ts'
import type { StalenessReason } from 'dlq-core/domain/staleness/staleness.ts'
import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import {
  askAgain,
  hasWaiting,
  listUndecided,
  type OpenRow,
  writeDecided,
  writeFresh,
  writeUnknown,
} from 'dlq-core/queries/staleness/answers.ts'
import { type Cursor, forgetCursor, keepCursor, takeCursors, writeCursor } from 'dlq-core/queries/staleness/cursors.ts'
import { refusalOf } from 'dlq-core/runtime/kafka/refusals.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { createOpenEntry, type EntryDeps } from './enter-open.ts'
import { createPartitionRead, type ReadDeps } from './read-on.ts'
import type { StalenessMetrics } from './staleness-metrics.ts'
import { type FactsDeps, followTopic, hasMoved, lookAtTopic, mayRead, type TopicFacts } from './topic-facts.ts'

export type ScanDeps = EntryDeps &
  Omit<ReadDeps, 'reader'> &
  Pick<FactsDeps, 'admin'> & {
    reader: ReadDeps['reader'] & FactsDeps['reader']
    log: Log
    metrics: StalenessMetrics
    /** Bytes that are read for one message at most. */
    maxBytes: number
    /** Bytes per second that this retrier reads. */
    ratePerSecond: number
    signal: AbortSignal
  }

const leaseMs = 60_000
const followMs = 2000
/** Where nothing is open, and after a fault. */
const restMs = 30_000
/** Another retrier, or the last look, may have been refused since this one was allowed. */
const askAgainMs = 5 * 60_000
const saveMs = 5000
const maxPartitions = 64
/** Of one partition. */
const maxOpen = 100_000

/** A pass that enters open messages, and reads on for the topic that has been due for longest. */
export function createStalenessScan(deps: ScanDeps) {
  const { sql, log } = deps
  const enterSome = createOpenEntry(deps)
  /** Topics that may be read → until when that is taken for true. */
  const allowed = new Map<string, number>()

  return async function scan(): Promise<{ more: boolean }> {
    const { guarded, more } = await enterSome()
    const lease = randomUUID()
    const cursors = await takeCursors(sql, { lease, leaseMs, limit: maxPartitions })
    const topic = cursors[0]?.original_topic
    if (topic === undefined) return { more }
    if (!guarded.has(topic)) {
      for (const cursor of cursors) await forgetCursor(sql, { ...cursor, lease })
      return { more: true }
    }
    try {
      let facts = await lookAtTopic(deps, topic)
      if (facts.kind === 'known' && (allowed.get(topic) ?? 0) <= deps.now()) {
        if (await mayRead(deps, topic, facts)) {
          await askAgain(sql, topic)
          allowed.set(topic, deps.now() + askAgainMs)
        } else facts = { kind: 'not_allowed' }
      } else if (facts.kind !== 'known') allowed.delete(topic)
      for (const cursor of cursors) await scanPartition(deps, cursor, { facts, lease })
    } catch (error) {
      // Asked again, it says so for all of them.
      if (refusalOf(error) !== null) allowed.delete(topic)
      // One topic must not hold up the others.
      log.warn({ topic, error }, 'staleness_scan_failed')
      for (const cursor of cursors) await keepCursor(sql, { ...cursor, lease, dueMs: restMs, ends: true })
    }
    return { more: !deps.signal.aborted }
  }
}

type Scanning = { facts: TopicFacts; lease: string }

async function scanPartition(deps: ScanDeps, before: Cursor, { facts, lease }: Scanning): Promise<void> {
  const { sql } = deps
  const bounds = facts.kind === 'known' ? facts.bounds.get(before.partition) : undefined
  const end = (dueMs: number) => keepCursor(sql, { ...before, lease, dueMs, ends: true })
  // The partitions before this one took their time.
  if (!(await keepCursor(sql, { ...before, lease, dueMs: leaseMs, ends: false }))) return
  if (facts.kind !== 'known' || bounds === undefined) {
    const reason = facts.kind === 'not_allowed' ? 'not_allowed' : 'recreated'
    await writeUnknown(sql, { ...before, fromOffset: 0n, reason })
    await end(restMs)
    return
  }

  const now = new Date()
  const partitions = facts.bounds.size
  const { cursor, isRecreated } = followTopic(before, { id: facts.id, partitions, end: bounds.log_end_offset, now })
  if (isRecreated) await writeUnknown(sql, { ...before, fromOffset: 0n, reason: 'recreated' })
  const isSame = !isRecreated && before.topic_partitions === partitions
  if (isSame && cursor.position === bounds.log_end_offset && !(await hasWaiting(sql, cursor))) {
    if (await end(followMs)) await writeCursor(sql, { ...cursor, looked_at: now })
    return
  }
  const rows = await listUndecided(sql, { ...cursor, limit: maxOpen })
  if (rows.length === maxOpen)
    await writeUnknown(sql, { ...cursor, fromOffset: rows.at(-1)!.original_offset + 1n, reason: 'beyond_bound' })
  const judged = rows.map((row) => ({ row, reason: reasonOf(row, { cursor, bounds, facts }) }))
  const decided = judged.flatMap(({ row, reason }) =>
    reason === null
      ? []
      : [{ id: row.message_id, answer: 'unknown' as const, reason, newer_offset: null, newer_at: null }],
  )
  const open = judged.flatMap(({ row, reason }) => (reason === null ? [toOpen(row, cursor, facts)] : []))
  const read = await readPartition(deps, { cursor, lease, open, decided, bounds, isCompacted: facts.isCompacted })
  if (read === null) return
  const wasWaiting = new Set(rows.flatMap(({ message_id, answer }) => (answer === 'waiting' ? [message_id] : [])))
  const found = read.covered.flatMap(({ id }) => (wasWaiting.has(id) ? [id] : []))
  await sql.begin(async (sql) => {
    const dueMs = open.length === 0 ? restMs : followMs
    if (!(await keepCursor(sql, { ...cursor, lease, dueMs, ends: true }))) return
    await writeDecided(sql, read.decided)
    if (!read.isWhole) return
    await writeFresh(sql, found)
    await writeCursor(sql, { ...cursor, position: read.position, looked_at: now })
  })
  for (const { answer } of read.decided) deps.metrics.answers.inc({ answer })
  if (read.isWhole) deps.metrics.answers.inc({ answer: 'fresh' }, found.length)
}

type Known = { cursor: Cursor; bounds: LogBounds; facts: Extract<TopicFacts, { kind: 'known' }> }

/** Why no answer can be had; null where reading tells. */
function reasonOf(row: OpenRow, { cursor, bounds, facts }: Known): StalenessReason | null {
  const { original_offset: offset, record_key: key, created_at } = row
  if (cursor.recreated_at !== null && created_at < cursor.recreated_at) return 'recreated'
  if (offset >= bounds.log_end_offset) return 'recreated'
  if (toOpen(row, cursor, facts).start < bounds.log_start_offset) return 'retention'
  return hasMoved(cursor, { offset, key }) ? 'repartitioned' : null
}

function toOpen(row: OpenRow, { position }: Cursor, { isCompacted }: { isCompacted: boolean | null }): OpenMessage {
  const { message_id: id, original_offset: offset, record_key: key, is_tombstone: isTombstone, answer } = row
  const first = isCompacted === false ? offset + 1n : offset
  return {
    id,
    offset,
    key: keyText(key),
    isTombstone,
    start: answer === 'fresh' && position !== null ? position : first,
  }
}

type Reading = {
  cursor: Cursor
  lease: string
  open: readonly OpenMessage[]
  decided: readonly Decided[]
  bounds: LogBounds
  isCompacted: boolean | null
}

type Read = {
  position: bigint
  decided: Decided[]
  covered: OpenMessage[]
  /** Read to the end; else the service stops, or Kafka has deleted what was to be read. */
  isWhole: boolean
}

/** Reads up to where the log ended. Null where another retrier has the lease. */
async function readPartition(deps: ScanDeps, reading: Reading): Promise<Read | null> {
  const { sql, metrics, signal, ratePerSecond, maxBytes } = deps
  const { cursor, lease, open, bounds, isCompacted } = reading
  const place = { topic: cursor.original_topic, partition: cursor.partition }
  const read = createPartitionRead(deps, place)
  const scan = createPartitionScan(open, { maxBytes, isCompacted, isOld: read.isOld })
  let decided = [...reading.decided]
  let saveAt = deps.now() + saveMs
  let position = bounds.log_end_offset
  let isWhole = true
  for (let at = scan.position(); at !== null && at < bounds.log_end_offset; at = scan.position()) {
    const step = await read.step(scan)
    if (step.kind === 'end') {
      // Of an open transaction: what is behind it is not committed yet.
      position = at
      break
    }
    if (step.kind === 'moved' || signal.aborted) {
      isWhole = false
      break
    }
    metrics.scannedBytes.inc(step.bytes)
    await sleep((step.bytes / ratePerSecond) * 1000, undefined, { signal }).catch(() => {})
    decided.push(...scan.decided())
    if (deps.now() < saveAt) continue
    if (!(await keepCursor(sql, { ...cursor, lease, dueMs: leaseMs, ends: false }))) return null
    await writeDecided(sql, decided)
    decided = []
    saveAt = deps.now() + saveMs
  }
  const last = scan.position()
  if (last !== null && last > position) position = last
  return { position, isWhole, decided: [...decided, ...scan.decided()], covered: scan.covered() }
}
