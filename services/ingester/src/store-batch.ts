// One batch of one partition, stored in one transaction together with the position behind it. So a
// crash, a rebalance, a zombie or a second ingester changes nothing: what the position says is
// stored is stored, and what lies below it is dropped.

import { type DeadLetter, type ReadingSettings, readDeadLetter } from 'dlq-core/new-message.ts'
import { ensureMessagePartition, insertMessages } from 'dlq-core/queries/message-insert.ts'
import { lockPosition, movePosition, type PartitionOf } from 'dlq-core/queries/positions.ts'
import type { DeadLetterRecord } from 'dlq-core/record.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { isDataError, isMissingPartition } from 'dlq-core/runtime/database-errors.ts'
import { insertReducing } from './insert-reducing.ts'
import { reopenRepublished } from './reopen-republished.ts'

export type Batch = PartitionOf & {
  /** Where the fetch began: everything committed from there to `nextOffset` is in `records`. */
  fetchedOffset: bigint
  /** The offset after the last record of the batch, control records and gaps included. */
  nextOffset: bigint
  records: readonly DeadLetterRecord[]
}

export type StoreOutcome =
  | { kind: 'stored'; stored: number; reopened: number; dropped: number; reduced: number }
  /** The fetch began behind `expectedOffset`: what lies between would be lost. */
  | { kind: 'hole'; expectedOffset: bigint }

export type StoreDeps = { sql: Database; settings: ReadingSettings; now: () => Date; random: () => number }

/**
 * Stores a batch. `lowOffset` is where the log begins now; it is asked for when retention may have
 * deleted records before they were read, so that a position before it is no hole.
 */
export async function storeBatch(deps: StoreDeps, batch: Batch, { lowOffset = 0n } = {}): Promise<StoreOutcome> {
  const { settings, now, random } = deps
  const letters = batch.records.map((record) => readDeadLetter(record, settings, now(), random()))
  const work: Work = { deps, batch, letters, lowOffset, mayRefuse: false }
  for (let partitionsMade = false; ; ) {
    try {
      return await storeLetters(work)
    } catch (error) {
      if (isMissingPartition(error) && !partitionsMade) {
        await makePartitions(deps.sql, letters)
        partitionsMade = true
      } else if (isDataError(error) && !work.mayRefuse) {
        // Rare: a row that PostgreSQL refuses. Only now is it worth a savepoint per insert to find it.
        work.mayRefuse = true
      } else throw error
    }
  }
}

type Work = { deps: StoreDeps; batch: Batch; letters: readonly DeadLetter[]; lowOffset: bigint; mayRefuse: boolean }

async function storeLetters({ deps, batch, letters, lowOffset, mayRefuse }: Work): Promise<StoreOutcome> {
  return deps.sql.begin(async (sql) => {
    const position = await lockPosition(sql, batch)
    const expectedOffset = lowOffset > position ? lowOffset : position
    if (batch.fetchedOffset > expectedOffset) return { kind: 'hole', expectedOffset }

    const unseen = letters.filter(({ message }) => message.dlq_offset >= position)
    const insert = mayRefuse ? insertReducing : insertWhole
    const first = await insert(
      sql,
      unseen.filter(({ republished }) => republished === null).map(({ message }) => message),
    )
    // After the insert: a failure and its re-failure may stand in the same batch.
    const { reopened, orphans } = await reopenRepublished(
      sql,
      unseen.filter(({ republished }) => republished !== null),
      { policy: deps.settings.policy, now: deps.now(), random: deps.random },
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

async function insertWhole(...[sql, messages]: Parameters<typeof insertMessages>) {
  return { stored: await insertMessages(sql, messages), reduced: 0 }
}

async function makePartitions(sql: Database, letters: readonly DeadLetter[]): Promise<void> {
  // Ids of one month share a partition; 30 days of milliseconds are a good enough grain to skip most repeats.
  const months = new Map(letters.map(({ message }) => [Math.floor(Number.parseInt(message.id.slice(0, 8), 16) / 40_000), message.id]))
  for (const id of months.values()) await ensureMessagePartition(sql, id)
}
