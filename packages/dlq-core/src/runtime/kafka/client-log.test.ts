import kafkajs from 'kafkajs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Log } from '../log.ts'
import { createClientLog } from './client-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The lines above debug that come of it. */
function createLines() {
  const lines: { event: string; kafka: string; repeated?: number; forMs?: number }[] = []
  const log = {
    debug: () => {},
    warn: (fields: { kafka: string }, event: string) => void lines.push({ ...fields, event }),
  } as unknown as Log
  const write = createClientLog(log)
  const say = (message: string, namespace = 'Producer') =>
    write({
      ...{ namespace, level: kafkajs.logLevel.ERROR, label: 'ERROR' },
      log: { message, timestamp: '', logger: 'kafkajs' },
    })
  const throttle = (fields: { broker: string; throttleMs: number }) =>
    write({
      ...{ namespace: 'RequestQueue', level: kafkajs.logLevel.WARN, label: 'WARN' },
      log: { message: 'A quota of the broker holds the client back', timestamp: '', logger: 'kafkajs', ...fields },
    })
  return { lines, say, throttle }
}

test('of 300 warnings in ten seconds two lines are left: when it begins and, with the count, when it has ended', () => {
  const { lines, say } = createLines()
  for (let n = 0; n < 300; n += 1) {
    say(`Failed to send messages: connect ECONNREFUSED 127.0.0.1:${9000 + n}`)
    vi.advanceTimersByTime(33)
  }
  expect(lines.map(({ event }) => event)).toEqual(['kafka_client'])
  vi.advanceTimersByTime(20_000)
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatchObject({ event: 'kafka_client_repeated', kafka: 'Producer: Failed to send messages' })
  expect(lines[1]).toMatchObject({ repeated: 299, forMs: 299 * 33 })

  say('Failed to send messages: again')
  expect(lines.at(-1)).toMatchObject({ event: 'kafka_client', kafka: 'Failed to send messages: again' })
})

test('a message of another kind shows within the storm, and one that comes once makes one line', () => {
  const { lines, say } = createLines()
  say('Failed to send messages: a')
  say('The transaction has to be aborted: b')
  say('Crash: c', 'Consumer')
  vi.advanceTimersByTime(60_000)
  expect(lines.map(({ kafka }) => kafka)).toEqual([
    'Failed to send messages: a',
    'The transaction has to be aborted: b',
    'Crash: c',
  ])
})

test('a quota that holds the client back is said with its time, once in a storm', () => {
  const { lines, throttle } = createLines()
  for (const throttleMs of [1500, 3000]) throttle({ broker: 'kafka:9092', throttleMs })
  expect(lines).toEqual([{ event: 'kafka_throttled', broker: 'kafka:9092', throttleMs: 1500 }])
})
