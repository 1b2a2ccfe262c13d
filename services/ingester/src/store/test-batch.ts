// Shared by the tests of storing: records made by hand, and batches of them.

import { readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { readErasureKeys } from 'dlq-core/queries/erase/erasures.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { afterAll, beforeAll } from 'vitest'
import { createConsumerRegister } from '../registers/consumer-register.ts'
import { createFramesRegister } from '../registers/frames-register.ts'
import { createGroupRegister } from '../registers/group-register.ts'
import { createLag } from '../registers/lag.ts'
import { createRouteRegister } from '../registers/route-register.ts'
import { createSetbacks } from '../registers/setbacks.ts'
import { type Batch, type StoreDeps, storeBatch as storeCold } from './store-batch.ts'

export const partition = { cluster: 'c', topic: 'orders.dlq.v1', partition: 0 }

export type RecordOptions = {
  timestamp?: bigint
  key?: Buffer | null
  value?: Buffer | string | null
  /** Text becomes UTF-8. */
  headers?: Record<string, string | Buffer | null>
}

/** A record of `partition`, dead-lettered by a consumer that names its origin. */
export function recordAt(
  offset: number | bigint,
  { timestamp, key = null, value = '{"order_id":"1"}', headers = {} }: RecordOptions = {},
): DeadLetterRecord {
  const own = {
    'dlq-original-topic': 'orders.events.v1',
    'dlq-error-class': 'OutOfStock',
    'dlq-error-message': `no stock ${offset}`,
  }
  return {
    ...partition,
    offset: BigInt(offset),
    timestamp: timestamp ?? BigInt(Date.now()),
    key,
    value: typeof value === 'string' ? Buffer.from(value) : value,
    headers: Object.entries({ ...own, ...headers }).map(([name, value]) => [
      name,
      typeof value === 'string' ? Buffer.from(value) : value,
    ]),
  }
}

/** A record that says that attempt `attempt` of message `id` failed again. */
export function refailureAt(
  offset: number,
  { id, attempt, headers = {}, ...more }: RecordOptions & { id: string; attempt: number },
): DeadLetterRecord {
  return recordAt(offset, {
    ...more,
    headers: {
      'dlq-message-id': id,
      'dlq-attempt': String(attempt),
      'dlq-error-message': `again ${offset}`,
      ...headers,
    },
  })
}

/** The records as one fetch from the first one's offset, with nothing after the last. */
export function batchOf(records: readonly DeadLetterRecord[], more: Partial<Batch> = {}): Batch {
  return {
    ...partition,
    fetchedOffset: records[0]?.offset ?? 0n,
    nextOffset: (records.at(-1)?.offset ?? -1n) + 1n,
    highWatermark: 2n ** 62n,
    lastEpoch: null,
    records,
    ...more,
  }
}

let isWarm = false

/**
 * In this file, groups, routes and frames of records are known before `storeBatch` reads them, so that rows are written
 * early.
 */
export function warmUp(): void {
  beforeAll(() => {
    isWarm = true
  })
  // The worker runs other files after this one.
  afterAll(() => {
    isWarm = false
  })
}

export const storeBatch: typeof storeCold = async (deps, batch, options) => {
  if (isWarm) await makeKnown(deps, [...batch.records])
  return storeCold(deps, batch, options)
}

export function storeDeps(sql: Database, more: Partial<StoreDeps> = {}): StoreDeps {
  return {
    ...{ sql, payloads: null, maxValueBytes: 1024 * 1024 },
    // The batches of these tests look as if a backlog followed.
    settings: {
      policyOf: () => ({ ...defaultRetryPolicy, payload: 'stored' }),
      mappings: [],
      dlqPatterns: ['*.dlq.v1'],
    },
    lag: createLag({ now: Date.now }),
    groups: createGroupRegister(sql, { now: () => performance.now() }),
    frames: createFramesRegister(sql, { now: Date.now }),
    routes: createRouteRegister(sql, { mappings: [], mode: 'ask', now: Date.now }),
    consumers: createConsumerRegister(sql, { now: Date.now }),
    setbacks: createSetbacks(),
    // Every record here says itself where it came from.
    complete: async (records) => [...records],
    decoder: null,
    fetchOriginals: async () => new Map(),
    now: () => new Date(),
    random: () => 0,
    ...more,
  }
}

async function makeKnown(
  { sql, settings, groups, frames, routes, consumers }: StoreDeps,
  records: readonly DeadLetterRecord[],
) {
  // What is erased must not become known.
  if ((await readErasureKeys(sql)).length > 0) return
  const reading = { ...settings, traces: frames.traces }
  const letters = records.map((record) => readDeadLetter(record, reading, new Date(), 0))
  await groups.assign(letters)
  await routes.admit(letters)
  await consumers.admit(letters)
  // Frames are stored when they are seen for the second time.
  for (const _ of [1, 2]) await frames.learn(letters)
}
