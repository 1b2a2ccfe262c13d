// One batch of one partition, stored in one transaction together with the position behind it. So a
// crash, a rebalance, a zombie or a second ingester changes nothing: what the position says is
// stored is stored, and what lies below it is dropped.

import { type DeadLetter, type ReadingSettings, readDeadLetter } from 'dlq-core/new-message.ts'
import { copyMessages, ensureMessagePartition } from 'dlq-core/queries/message-insert.ts'
import { lockPosition, movePosition, type PartitionOf } from 'dlq-core/queries/positions.ts'
import type { DeadLetterRecord } from 'dlq-core/record.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { isDatabaseAway, isMissingPartition } from 'dlq-core/runtime/database-errors.ts'
import { correlate } from './correlate.ts'
import type { GroupRegister } from './group-register.ts'
import { insertReducing } from './insert-reducing.ts'
import { reopenRepublished } from './reopen-republished.ts'
import { type TraceDeps, traceOrigins } from './trace-origins.ts'

export type Batch = PartitionOf & {
  /** Where the fetch began: everything committed from there to `nextOffset` is in `records`. */
  fetchedOffset: bigint
  /** The offset after the last record of the batch, control records and gaps included. */
  nextOffset: bigint
  /** Where the log ended when this was fetched. */
  highWatermark: bigint
  records: readonly DeadLetterRecord[]
}

export type StoreOutcome =
  | { kind: 'stored'; stored: number; reopened: number; dropped: number; reduced: number }
  /** The fetch began behind `expectedOffset`: what lies between would be lost. */
  | { kind: 'hole'; expectedOffset: bigint }
  /** The position lies beyond the log's end: the topic was deleted and made anew. */
  | { kind: 'recreated'; seenOffset: bigint }

export type StoreDeps = {
  sql: Database
  settings: ReadingSettings
  groups: GroupRegister
  /** Fetches what dead letters without bytes point to. */
  complete: (records: readonly DeadLetterRecord[]) => Promise<readonly DeadLetterRecord[]>
  fetchOriginals: TraceDeps['fetchOriginals']
  now: () => Date
  random: () => number
}

/**
 * Stores a batch. `lowOffset` is where the log begins now; it is asked for when retention may have
 * deleted records before they were read, so that a position before it is no hole.
 */
export async function storeBatch(deps: StoreDeps, batch: Batch, { lowOffset = 0n } = {}): Promise<StoreOutcome> {
  const { settings, groups, complete, now, random } = deps
  const read = (await complete(batch.records)).map((record) => readDeadLetter(record, settings, now(), random()))
  const letters = await traceOrigins(deps, read)
  await groups.assign(letters)
  const work: Work = { deps, batch, letters, lowOffset, mayRefuse: false }
  for (let partitionsMade = false; ; ) {
    try {
      return await storeLetters(work)
    } catch (error) {
      if (isMissingPartition(error) && !partitionsMade) {
        await makePartitions(deps.sql, letters)
        partitionsMade = true
      } else if (!isDatabaseAway(error) && !work.mayRefuse) {
        // Rare: a row that PostgreSQL refuses, or has already. COPY does not always say so; the inserts find out.
        work.mayRefuse = true
      } else throw error
    }
  }
}

type Work = { deps: StoreDeps; batch: Batch; letters: readonly DeadLetter[]; lowOffset: bigint; mayRefuse: boolean }

async function storeLetters({ deps, batch, letters, lowOffset, mayRefuse }: Work): Promise<StoreOutcome> {
  return deps.sql.begin(async (sql) => {
    const position = await lockPosition(sql, batch)
    if (position > batch.highWatermark) return { kind: 'recreated', seenOffset: position }
    const expectedOffset = lowOffset > position ? lowOffset : position
    if (batch.fetchedOffset > expectedOffset) return { kind: 'hole', expectedOffset }

    const unseen = await correlate(
      sql,
      letters.filter(({ message }) => message.dlq_offset >= position),
    )
    const insert = mayRefuse ? insertReducing : copyWhole
    const first = await insert(
      sql,
      unseen.filter(({ republished }) => republished === null).map(({ message }) => message),
    )
    // After the insert: a failure and its re-failure may stand in the same batch.
    const { reopened, orphans } = await reopenRepublished(
      sql,
      unseen.filter(({ republished }) => republished !== null),
      { policyFor: deps.settings.policyFor, now: deps.now(), random: deps.random },
    )
    const second = await insert(sql, orphans)
    if (batch.nextOffset > position) await movePosition(sql, batch)
    return {
      kind: 'stored',
      stored: first.stored + second.stored,
      reduced: first.reduced + second.reduced,
      reopened,
      dropped: letters.length - unseen.length,
    }
  })
}

async function copyWhole(...[sql, messages]: Parameters<typeof copyMessages>) {
  return { stored: await copyMessages(sql, messages), reduced: 0 }
}

async function makePartitions(sql: Database, letters: readonly DeadLetter[]): Promise<void> {
  // Archived messages that come back may be of a month whose partition was dropped.
  const ids = letters.flatMap(({ message, republished }) =>
    republished ? [message.id, republished.messageId] : [message.id],
  )
  const months = new Map(ids.map((id) => [monthOf(id), id]))
  for (const id of months.values()) await ensureMessagePartition(sql, id)
}

/** The month whose partition holds the id, in UTC. */
function monthOf(id: string): string {
  const time = new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
  return time.toISOString().slice(0, -'-01T00:00:00.000Z'.length)
}
