// The records that a read-committed consumer delivers (patches/kafkajs@2.2.4.patch), compared with a model of a
// partition: its records, their transactions, and how these ended.
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const require = createRequire(import.meta.url)
const Batch = require('kafkajs/src/consumer/batch')
const Runner = require('kafkajs/src/consumer/runner')

const abortMarker = Buffer.from([0, 0, 0, 0])
const commitMarker = Buffer.from([0, 0, 0, 1])
const keys = [null, Buffer.alloc(0), abortMarker, commitMarker, Buffer.from('key')]

type Stored = { offset: string; key: Buffer | null; isControlRecord: boolean; batchContext: object; isWanted: boolean }
type Aborted = { producerId: string; firstOffset: string; lastOffset: number }

/** A partition as a broker keeps it. Producers are numbers; each has at most one transaction open. */
class Partition {
  readonly stored: Stored[] = []
  readonly #aborted: Aborted[] = []
  readonly #open = new Map<number, Stored[]>()

  write(producer: number, key: Buffer | null) {
    const record = this.#append(producer, { key, inTransaction: true })
    this.#open.set(producer, [...(this.#open.get(producer) ?? []), record])
  }

  writeOutsideTransactions(key: Buffer | null) {
    this.#append(-1, { key, inTransaction: false }).isWanted = true
  }

  end(producer: number, outcome: 'commit' | 'abort') {
    const records = this.#open.get(producer) ?? []
    const [first] = records
    if (!first) return
    this.#open.delete(producer)
    const key = outcome === 'commit' ? commitMarker : abortMarker
    const marker = this.#append(producer, { key, inTransaction: true, isControlRecord: true })
    for (const record of records) record.isWanted = outcome === 'commit'
    if (outcome === 'abort') {
      this.#aborted.push({ producerId: `${producer}`, firstOffset: first.offset, lastOffset: Number(marker.offset) })
    }
  }

  /** Up to the last stable offset; the list of aborted transactions in the order of their ends, as brokers send it. */
  fetch({ from, to }: { from: number; to: number }) {
    const firstOpen = [...this.#open.values()].map(([first]) => Number(first?.offset))
    const end = Math.min(to, this.stored.length, ...firstOpen)
    const messages = this.stored.slice(from, end)
    const abortedTransactions = this.#aborted.filter(
      ({ firstOffset, lastOffset }) => lastOffset >= from && Number(firstOffset) < end,
    )
    return { messages, abortedTransactions }
  }

  #append(producer: number, record: { key: Buffer | null; inTransaction: boolean; isControlRecord?: boolean }): Stored {
    const { key, inTransaction, isControlRecord = false } = record
    const batchContext = { producerId: `${producer}`, inTransaction }
    const stored = { offset: `${this.stored.length}`, key, isControlRecord, batchContext, isWanted: false }
    this.stored.push(stored)
    return stored
  }
}

type Window = { from: number; to: number }
const everything: Window = { from: 0, to: Number.POSITIVE_INFINITY }

/** The offsets that the consumer delivers and those that it should. `isKept` leaves out what compaction removed. */
function read(partition: Partition, window: Window = everything, isKept = (_record: Stored) => true) {
  const { messages: found, abortedTransactions } = partition.fetch(window)
  const messages = found.filter((record) => record.isControlRecord || isKept(record))
  const batch = new Batch('t', `${window.from}`, { partition: 0, highWatermark: '0', abortedTransactions, messages })
  return {
    delivered: batch.messages.map(({ offset }: Stored) => offset),
    wanted: messages.filter(({ isWanted }) => isWanted).map(({ offset }) => offset),
  }
}

function partitionAfter(steps: (partition: Partition) => void): Partition {
  const partition = new Partition()
  steps(partition)
  return partition
}

describe('a read-committed consumer', () => {
  test('skips two aborted transactions of which the second to begin was the first to end', () => {
    const partition = partitionAfter((log) => {
      log.write(1, null)
      log.write(2, null)
      log.write(1, null)
      log.end(2, 'abort')
      log.write(1, null)
      log.end(1, 'abort')
      log.writeOutsideTransactions(null)
    })
    expect(read(partition)).toEqual({ delivered: ['6'], wanted: ['6'] })
  })

  test('skips all of an aborted transaction whose records have the key of an abort marker', () => {
    const partition = partitionAfter((log) => {
      log.write(1, abortMarker)
      log.write(1, abortMarker)
      log.end(1, 'abort')
      log.write(1, abortMarker)
      log.end(1, 'commit')
    })
    expect(read(partition)).toEqual({ delivered: ['3'], wanted: ['3'] })
  })

  test('skips a transaction although compaction left nothing of two that began before it', () => {
    const partition = partitionAfter((log) => {
      for (const producer of [1, 2, 3]) log.write(producer, null)
      for (const producer of [1, 2, 3]) log.write(producer, null)
      for (const producer of [1, 2, 3]) log.end(producer, 'abort')
    })
    const isKept = ({ offset }: Stored) => offset === '5'
    expect(read(partition, everything, isKept).delivered).toEqual([])
  })

  test('delivers what a producer commits after several aborts', () => {
    const partition = partitionAfter((log) => {
      for (const outcome of ['abort', 'abort', 'commit', 'abort', 'commit'] as const) {
        log.write(1, null)
        log.end(1, outcome)
      }
    })
    expect(read(partition)).toEqual({ delivered: ['4', '8'], wanted: ['4', '8'] })
  })

  test('delivers messages of the formats before transactions, also beside aborted transactions', () => {
    const messages = [{ offset: '7', key: abortMarker }]
    const abortedTransactions = [{ producerId: '1', firstOffset: '0' }]
    const batch = new Batch('t', '0', { partition: 0, highWatermark: '8', abortedTransactions, messages })
    expect(batch.messages).toEqual(messages)
  })

  test('delivers exactly the committed records of any history, from any offset, compacted or not', () => {
    const producer = fc.integer({ min: 1, max: 4 })
    const key = fc.constantFrom(...keys)
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), producer, key }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('plain' as const), key }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('commit' as const, 'abort' as const), producer }) },
    )
    const history = fc.array(step, { maxLength: 60, size: 'max' })
    const someOffsets = fc.uniqueArray(fc.nat(60), { maxLength: 30 })
    fc.assert(
      fc.property(history, fc.nat(60), fc.nat(60), someOffsets, (steps, from, length, removed) => {
        const partition = partitionAfter((log) => {
          for (const each of steps) {
            if (each.do === 'write') log.write(each.producer, each.key)
            else if (each.do === 'plain') log.writeOutsideTransactions(each.key)
            else log.end(each.producer, each.do)
          }
        })
        const isKept = ({ offset }: Stored) => !removed.includes(Number(offset))
        const { delivered, wanted } = read(partition, { from, to: from + length }, isKept)
        expect(delivered).toEqual(wanted)
      }),
      { numRuns: 2_000 },
    )
  })
})

test('a batch of aborted records behind a gap says where its fetch began', async () => {
  const processed: object[] = []
  const instrumentationEmitter = new EventEmitter()
  instrumentationEmitter.on('consumer.end_batch_process', (event) => processed.push(event))
  const logger = { debug() {}, namespace: () => logger }
  const consumerGroup = { resolveOffset() {}, heartbeat: async () => {} }
  const runner = new Runner({ logger, instrumentationEmitter, consumerGroup, autoCommit: false, concurrency: 1 })
  runner.running = true

  const context = { producerId: '1', inTransaction: true }
  const messages = ['150', '151'].map((offset) => ({
    offset,
    key: null,
    isControlRecord: false,
    batchContext: context,
  }))
  const abortedTransactions = [{ producerId: '1', firstOffset: '150' }]
  await runner.handleBatch(new Batch('t', '100', { partition: 0, highWatermark: '200', abortedTransactions, messages }))
  expect(processed).toEqual([
    expect.objectContaining({ batchSize: 0, fetchedOffset: '100', firstOffset: '150', lastOffset: '151' }),
  ])
})
