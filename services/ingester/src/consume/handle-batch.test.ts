// What becomes of batches. When the memory of one is given back: once all its records are stored, and never while something
// may read them.
import { partitionKey } from 'dlq-core/domain/record/record-place.ts'
import { noRoomNow } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import type { EachBatchPayload, KafkaMessage } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import type { StoreOutcome } from '../store/store-batch.ts'
import { type HandleDeps, handleBatch, passOver } from './handle-batch.ts'
import { createStoreAhead } from './store-ahead.ts'

const stored: StoreOutcome = {
  ...{ kind: 'stored', stored: 1, reopened: 0, dropped: 0, reduced: 0, early: 0, bytes: 1 },
  messages: [],
}
const largeValue = Buffer.alloc(3 * 1024 * 1024)

/** Handles batches of two large records, which are stored as two parts, with these outcomes. `done`: what was done, in its order. */
function handling(outcomes: (() => Promise<StoreOutcome>)[], early = new Set<string>()) {
  const done: string[] = []
  const ahead = createStoreAhead({ maxBytes: 16 * 1024 * 1024 })
  const deps: HandleDeps = {
    consumer: { seek: ({ offset }) => void done.push(`read again from ${offset}`) },
    reader: { fetchLogBounds: async () => [] },
    log: createLog({ service: 'test', level: 'silent' }),
    cluster: 'c',
    maxValueBytes: largeValue.length,
    isPaused: () => false,
    positions: { stored() {} },
    ahead,
    commits: { note() {} },
    early,
    store: async ({ records, fetchedOffset }, { isUncut } = {}) => {
      done.push(`stores ${records.length} from ${fetchedOffset}${isUncut ? ' of an uncut log' : ''}`)
      return outcomes.shift()!()
    },
    onRecreated: async () => {},
    onAnotherLeader: async () => null,
    onStored() {},
    onBehind() {},
    onLost() {},
  }
  const payloadOf = (first: number) => ({
    batch: {
      ...{ topic: 'orders.dlq.v1', partition: 0, highWatermark: '9', fetchedOffset: String(first) },
      messages: [first, first + 1].map((offset) => ({
        offset: `${offset}`,
        key: null,
        value: largeValue,
        headerPairs: [],
      })),
      rawMessages: [],
      lastOffset: () => String(first + 1),
      release: () => void done.push('released'),
    } as unknown as EachBatchPayload['batch'] & { messages: KafkaMessage[] },
    resolveOffset() {},
    heartbeat: async () => {},
    isRunning: () => true,
    isStale: () => false,
    pause() {
      done.push('rests')
      return () => void done.push('goes on')
    },
  })
  const handle = (first: number, more: Partial<EachBatchPayload> = {}) =>
    handleBatch(deps, { ...payloadOf(first), ...more } as unknown as EachBatchPayload).catch((error: Error) =>
      done.push(error.message),
    )
  return { done, handle, idle: () => ahead.idle(), deps, batchOf: (first: number) => payloadOf(first).batch }
}

/** Handles one batch. Returns what was done, in its order. */
async function handled(...args: Parameters<typeof handling>): Promise<string[]> {
  const { done, handle, idle } = handling(...args)
  await handle(0)
  await idle()
  return done
}

/** Records that are so small that their number alone decides how many parts they are. */
const small = (count: number): Partial<KafkaMessage>[] =>
  Array.from({ length: count }, (_, offset) => ({ offset: `${offset}`, key: null, value: null, headerPairs: [] }))

test('kafkajs reads on behind each part as soon as its storing has begun', async () => {
  const { handle, idle } = handling([async () => stored, async () => stored])
  const read: string[] = []
  await handle(0, { resolveOffset: (offset) => void read.push(offset) })
  await idle()
  expect(read).toEqual(['0', '1'])
})

test('nothing more is begun of a batch that somebody else reads now', async () => {
  const { done, handle, idle } = handling([async () => stored, async () => stored])
  await handle(0, { isStale: () => done.length > 0 })
  await idle()
  expect(done.filter((one) => one.startsWith('stores'))).toEqual(['stores 1 from 0'])
})

test('records are stored a thousand at a time where most of them were written early, else five hundred', async () => {
  for (const [key, parts] of [
    ['another', ['stores 500 from 0', 'stores 100 from 500']],
    [partitionKey({ topic: 'orders.dlq.v1', partition: 0 }), ['stores 600 from 0']],
  ] as const) {
    const { done, handle, idle, batchOf } = handling([async () => stored, async () => stored], new Set([key]))
    await handle(0, { batch: { ...batchOf(0), messages: small(600), lastOffset: () => '599' } as never })
    await idle()
    expect(done).toEqual([...parts, 'released'])
  }
})

describe('a batch that is left for a later fetch, because nothing has room for it,', () => {
  const left = { undecodable: { reason: noRoomNow, firstOffset: '1' } }

  test('is sought once what stands before it is stored', async () => {
    const late = () => new Promise<StoreOutcome>((resolve) => setImmediate(resolve, stored))
    const { done, handle, idle, deps, batchOf } = handling([late])
    deps.positions = { stored: (_, offset) => void done.push(`stored to ${offset}`) }
    const [first, second] = small(2)
    await handle(0, { batch: { ...batchOf(0), messages: [first, { ...second, ...left }] } as never })
    expect(done).toEqual(['stores 1 from 0', 'stored to 1', 'released', 'read again from 1'])
    await idle()
  })

  test('is sought at once where nothing does, but not before what was asked for', async () => {
    for (const [from, sought] of [
      [0, '1'],
      [5, '5'],
    ] as const) {
      const { done, handle, batchOf } = handling([])
      await handle(from, { batch: { ...batchOf(from), messages: [{ ...small(1)[0], ...left }] } as never })
      expect(done).toEqual([`read again from ${sought}`])
    }
  })
})

test('it is given back behind the last part', async () => {
  const once = async () => stored
  expect(await handled([once, once])).toEqual(['stores 1 from 0', 'stores 1 from 1', 'released'])
})

test('it is not given back where a part is to be read again', async () => {
  const hole = async (): Promise<StoreOutcome> => ({ kind: 'hole', expectedOffset: 5n })
  const once = async () => stored
  const done = await handled([once, hole, hole])
  expect(done).toContain('read again from 1')
  expect(done).not.toContain('released')
})

describe('of another leader', () => {
  const another = async (): Promise<StoreOutcome> => ({ kind: 'another-leader', seenOffset: 5n, epoch: 3 })
  const once = async () => stored

  test('it is stored where the log was not cut', async () => {
    const done = await handled([another, once, once])
    expect(done).toEqual(['stores 1 from 0', 'stores 1 from 0 of an uncut log', 'stores 1 from 1', 'released'])
  })

  test('it is read again from where the log was cut', async () => {
    const { done, handle, idle, deps } = handling([another, once])
    deps.onAnotherLeader = async (_, { seenOffset, epoch }) => {
      done.push(`asks for the end of ${epoch}, below ${seenOffset}`)
      return 2n
    }
    await handle(0)
    await idle()
    expect(done.slice(0, 3)).toEqual(['stores 1 from 0', 'asks for the end of 3, below 5', 'read again from 2'])
    expect(done).not.toContain('released')
  })
})

test('it is given back where a partition rests, once nothing reads it any more', async () => {
  const held = Promise.withResolvers<StoreOutcome>()
  const { done, handle, idle } = handling([() => held.promise])
  await handle(0)
  // Its first part waits for a locked row: the second one is read again later.
  expect(done).toEqual(['stores 1 from 0', 'rests'])
  held.resolve(stored)
  await idle()
  expect(done.slice(2).sort()).toEqual(['goes on', 'released'])
})

test('a partition whose work takes long rests at once, and the memory of what is read again is given back', async () => {
  const held = Promise.withResolvers<StoreOutcome>()
  const { done, handle, idle } = handling([() => held.promise])
  await handle(0)
  const since = performance.now()
  await handle(1)
  expect(performance.now() - since).toBeLessThan(500)
  expect(done).toEqual(['stores 1 from 0', 'rests', 'rests', 'released'])
  held.resolve(stored)
  await idle()
})

test('it is remembered whether most rows of a partition were written early', async () => {
  const early = new Set<string>()
  const written = async () => ({ ...stored, early: 1 })
  const late = async () => stored
  await handled([late, written], early)
  expect(early.size).toBe(1)
  await handled([written, late], early)
  expect(early.size).toBe(0)
  await handled([late, async () => ({ ...stored, stored: 2, early: 1 })], early)
  expect(early.size).toBe(1)
})

test('it is stored with the epoch of the leader that wrote its last record, where records have one', async () => {
  for (const [rawMessages, epoch] of [
    [[{ batchContext: { partitionLeaderEpoch: 3 } }, { batchContext: { partitionLeaderEpoch: 4 } }], 4],
    [[{}], null],
  ] as const) {
    const { handle, idle, deps, batchOf } = handling([])
    const epochs: unknown[] = []
    deps.store = async ({ lastEpoch }) => {
      epochs.push(lastEpoch)
      return stored
    }
    await handle(0, { batch: { ...batchOf(0), rawMessages } as never })
    await idle()
    expect(epochs).toEqual([epoch, epoch])
  }
})

test('aborted records behind a gap that compaction has left are passed over from where their fetch began', async () => {
  const asked: bigint[] = []
  const fetched = { topic: 'orders.dlq.v1', partition: 0, highWatermark: '90', fetchedOffset: '10', lastOffset: '59' }
  await passOver(
    {
      cluster: 'c',
      log: createLog({ service: 'test', level: 'silent' }),
      reader: { fetchLogBounds: async () => [] },
      onLost() {},
      store: async ({ fetchedOffset, nextOffset }) => {
        asked.push(fetchedOffset, nextOffset)
        return stored
      },
    },
    fetched,
  )
  expect(asked).toEqual([10n, 60n])
})

test('aborted records behind a hole are passed over where retention has deleted what stood in it', async () => {
  const asked: unknown[] = []
  const lost: number[] = []
  await passOver(
    {
      cluster: 'c',
      log: createLog({ service: 'test', level: 'silent' }),
      reader: {
        fetchLogBounds: async ([topic]) => [{ topic: topic!, partition: 0, log_start_offset: 9n, log_end_offset: 90n }],
      },
      onLost: (_, count) => void lost.push(count),
      store: async (_, { lowOffset } = {}) => {
        asked.push(lowOffset)
        return lowOffset === undefined ? { kind: 'hole', expectedOffset: 4n } : stored
      },
    },
    { topic: 'orders.dlq.v1', partition: 0, highWatermark: '90', fetchedOffset: '10', lastOffset: '59' },
  )
  expect([asked, lost]).toEqual([[undefined, 9n], [5]])
})

describe('what is not stored', () => {
  const once = async () => stored
  const soughtBy = (done: readonly string[]) => done.filter((one) => one.startsWith('read again'))

  test('is read again from where the database says, and not from the part’s own beginning', async () => {
    const hole = async (): Promise<StoreOutcome> => ({ kind: 'hole', expectedOffset: 5n })
    const { done, handle, idle } = handling([hole, hole])
    // So kafkajs says, once somebody has sought the partition.
    await handle(0, { isStale: () => soughtBy(done).length > 0 })
    await idle()
    expect(soughtBy(done)).toEqual(['read again from 5'])
  })

  test('is not committed, and not looked for in the database', async () => {
    const hole = async (): Promise<StoreOutcome> => ({ kind: 'hole', expectedOffset: 1n })
    const noted: string[] = []
    const { handle, idle, deps } = handling([once, hole, hole])
    deps.commits = { note: (_, offset) => void noted.push(`commits ${offset}`) }
    deps.positions = { stored: (_, offset) => void noted.push(`stored to ${offset}`) }
    await handle(0)
    await idle()
    expect(noted).toEqual(['stored to 1', 'commits 1'])
  })

  test('because the consumer stops is neither committed nor given back', async () => {
    const { done, handle, idle, deps } = handling([() => Promise.reject(new Error('the database is away'))])
    deps.commits = { note: (_, offset) => void done.push(`commits ${offset}`) }
    await handle(0, { isRunning: () => done.length === 0 })
    await idle()
    expect(done).toEqual(['stores 1 from 0', 'read again from 0'])
  })

  test('waits while its topic is paused', async () => {
    const { done, handle, idle, deps } = handling([])
    deps.isPaused = () => true
    await handle(3)
    await idle()
    expect(done).toEqual(['read again from 3', 'read again from 4'])
  })

  test('goes on only with the rest of its topic, where that was paused meanwhile', async () => {
    const held = Promise.withResolvers<StoreOutcome>()
    const { done, handle, idle, deps } = handling([() => held.promise])
    let isPaused = false
    deps.isPaused = () => isPaused
    await handle(0)
    isPaused = true
    held.resolve(stored)
    await idle()
    expect(done).not.toContain('goes on')
  })
})

describe('behind a hole', () => {
  const hole = (expectedOffset: bigint) => async (): Promise<StoreOutcome> => ({ kind: 'hole', expectedOffset })
  const handledBehind = async (expectedOffset: bigint) => {
    const { done, handle, idle, deps } = handling([hole(expectedOffset), async () => stored, async () => stored])
    deps.reader = {
      fetchLogBounds: async ([topic]) => [{ topic: topic!, partition: 0, log_start_offset: 3n, log_end_offset: 9n }],
    }
    deps.onBehind = () => void done.push('may have forgotten')
    deps.onLost = (_, count) => void done.push(`lost ${count}`)
    await handle(3)
    await idle()
    return done.filter((one) => /lost|forgotten/.test(one))
  }

  test('the database may have forgotten other things, and what retention has deleted is counted', async () => {
    expect(await handledBehind(1n)).toEqual(['may have forgotten', 'lost 2'])
  })

  test('nothing is lost where the topic was never read', async () => {
    expect(await handledBehind(0n)).toEqual(['may have forgotten'])
  })
})

test.each([
  ['at the end of the log', 9n, ['read again from 9']],
  ['behind it', 10n, ['recreated', 'released']],
])(
  'a batch from before a position %s is of a topic that was created again only where Kafka has less',
  async (_, seenOffset, expected) => {
    const recreated = async (): Promise<StoreOutcome> => ({ kind: 'recreated', seenOffset, epoch: null })
    const { done, handle, idle, deps } = handling([recreated, async () => stored, async () => stored])
    deps.reader = {
      fetchLogBounds: async ([topic]) => [{ topic: topic!, partition: 0, log_start_offset: 0n, log_end_offset: 9n }],
    }
    deps.onRecreated = async () => void done.push('recreated')
    await handle(0, { isStale: () => done.some((one) => one.startsWith('read again')) })
    await idle()
    expect(done.filter((one) => !one.startsWith('stores'))).toEqual(expected)
  },
)
