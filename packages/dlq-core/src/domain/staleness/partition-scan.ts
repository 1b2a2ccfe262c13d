// One walk through a partition for all of its open messages together. It begins at the first offset that one of them asks
// for, and jumps over what none asks for. Pure: the caller fetches, and says of our own republished records what they are.

import { createHash } from 'node:crypto'
import type { StalenessReason } from './staleness.ts'

export type OpenMessage = {
  id: string
  offset: bigint
  /** Where to read from. Its own offset: then its record must still be there. */
  start: bigint
  key: string
  isTombstone: boolean
}

export type ScannedRecord = {
  offset: bigint
  key: Buffer | null
  timestamp: number
  republished: string | null
  /** It stands for a whole batch, whose last offset this is, and may hold any key. */
  isUndecodable?: boolean
}

export type Decided = {
  id: string
  answer: 'superseded' | 'unknown'
  reason: StalenessReason | null
  newer_offset: bigint | null
  newer_at: Date | null
}

export type ScanOptions = {
  /** More is not read for one message. */
  maxBytes: number
  /** Whether compaction takes older records of a key; null: not known. */
  isCompacted: boolean | null
  /** Whether the record is one that we sent, of this message or of an older one. */
  isOld(record: ScannedRecord, message: OpenMessage): boolean
}

export type PartitionScan = {
  /** Where to fetch next; null: nobody asks for more. */
  position(): bigint | null
  /** Takes what one fetch returned. `nextOffset`: behind all of it. */
  take(fetched: { records: readonly ScannedRecord[]; nextOffset: bigint; bytes: number }): void
  /** Those decided since the last call. */
  decided(): Decided[]
  /** Those that nothing speaks against, as far as was read. */
  covered(): OpenMessage[]
  /** Whether an open message has this key. */
  wants(key: string): boolean
}

/** The key as text, by which records are compared; long ones by their digest. */
export function keyText(key: Buffer): string {
  return key.length <= 64 ? `=${key.toString('latin1')}` : `#${createHash('sha256').update(key).digest('base64')}`
}

type Active = { message: OpenMessage; bytesBefore: number; sawItself: boolean; isDecided: boolean }

export function createPartitionScan(
  open: readonly OpenMessage[],
  { maxBytes, isCompacted, isOld }: ScanOptions,
): PartitionScan {
  const waiting = open.toSorted((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0))
  const keys = new Set(waiting.map(({ key }) => key))
  const byKey = new Map<string, Set<Active>>()
  // In the order of their starts, so the one that has read most comes first.
  const queue: Active[] = []
  let next = 0
  let head = 0
  let bytes = 0
  let position = waiting[0]?.start ?? null
  let decisions: Decided[] = []

  function decide(active: Active, decision: Partial<Decided> & Pick<Decided, 'answer'>): void {
    active.isDecided = true
    byKey.get(active.message.key)?.delete(active)
    decisions.push({ id: active.message.id, reason: null, newer_offset: null, newer_at: null, ...decision })
  }

  function begin(until: bigint): void {
    for (let message = waiting[next]; message !== undefined && message.start <= until; message = waiting[next]) {
      next += 1
      const sawItself = message.start > message.offset
      const active = { message, bytesBefore: bytes, sawItself, isDecided: false }
      queue.push(active)
      const ofKey = byKey.get(message.key) ?? new Set()
      byKey.set(message.key, ofKey.add(active))
    }
  }

  /** What was begun stands before the end of what cannot be decoded. */
  function giveUp(): void {
    for (const active of queue.slice(head))
      if (!active.isDecided) decide(active, { answer: 'unknown', reason: 'undecodable' })
  }

  function compare(record: ScannedRecord): void {
    if (record.key === null) return
    for (const active of byKey.get(keyText(record.key)) ?? []) {
      const { message } = active
      if (record.offset === message.offset) active.sawItself = true
      if (record.offset <= message.offset || isOld(record, message)) continue
      const newer_at = new Date(record.timestamp)
      decide(active, { answer: 'superseded', newer_offset: record.offset, newer_at })
    }
  }

  /** Its record was there when it failed: what compaction takes, a newer one has replaced. */
  function missItself(until: bigint): void {
    for (let at = head; at < queue.length; at += 1) {
      const active = queue[at]!
      if (active.isDecided || active.sawItself || active.message.offset >= until) continue
      if (isCompacted === null) decide(active, { answer: 'unknown', reason: 'not_allowed' })
      // A deletion goes by itself, after delete.retention.ms.
      else if (active.message.isTombstone) decide(active, { answer: 'unknown', reason: 'retention' })
      else decide(active, { answer: 'superseded' })
    }
  }

  function dropTooLong(): void {
    for (let active = queue[head]; active !== undefined; active = queue[head]) {
      if (!active.isDecided) {
        if (bytes - active.bytesBefore <= maxBytes) return
        decide(active, { answer: 'unknown', reason: 'beyond_bound' })
      }
      head += 1
    }
  }

  if (position !== null) begin(position)
  return {
    position: () => position,
    wants: (key) => keys.has(key),
    take({ records, nextOffset, bytes: read }) {
      for (const record of records) {
        begin(record.offset)
        if (record.isUndecodable) giveUp()
        else compare(record)
      }
      bytes += read
      // First: behind the last record that was fetched, records of messages may be missing, too.
      begin(nextOffset)
      if (isCompacted !== false) missItself(nextOffset)
      dropTooLong()
      position = nextOffset
      if (head < queue.length) return
      const following = waiting[next]
      position = following === undefined ? null : following.start
      if (position !== null) begin(position)
    },
    decided() {
      const some = decisions
      decisions = []
      return some
    },
    covered: () => queue.flatMap(({ message, isDecided }) => (isDecided ? [] : [message])),
  }
}
