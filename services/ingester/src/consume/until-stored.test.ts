import { createLog } from 'dlq-core/runtime/log.ts'
import { expect, test } from 'vitest'
import { untilStored } from './until-stored.ts'

const place = { topic: 'orders.dlq.v1', partition: 0 }
const log = createLog({ service: 'test', level: 'silent' })
const session = { isRunning: () => true, isStale: () => false, heartbeat: async () => {} }

/** A store of a database that is away at first. `tries`: how often it was asked. */
function storing(failures: number) {
  const seen = { tries: 0 }
  const store = async () => {
    seen.tries += 1
    if (seen.tries <= failures) throw new Error('the database is away')
    return 'stored'
  }
  return { seen, store }
}

test('what cannot be stored is tried again, but not for a partition that was lost meanwhile', async () => {
  const kept = storing(1)
  expect(await untilStored(kept.store, place, session, log)).toBe('stored')
  for (const end of ['isStale', 'isRunning'] as const) {
    const { seen, store } = storing(1)
    const isKept = () => seen.tries === 0
    const lost = { ...session, [end]: end === 'isStale' ? () => !isKept() : isKept }
    expect(await untilStored(store, place, lost, log)).toBeNull()
    expect(seen.tries).toBe(1)
  }
})

test('a heartbeat that fails ends the waiting: another ingester may have the partition', async () => {
  const heartbeat = async () => {
    throw new Error('the group rebalances')
  }
  let tries = 0
  const store = () => {
    tries += 1
    return new Promise<never>(() => {})
  }
  await expect(untilStored(store, place, { ...session, heartbeat }, log)).rejects.toThrow('rebalances')
  expect(tries).toBe(1)
})
