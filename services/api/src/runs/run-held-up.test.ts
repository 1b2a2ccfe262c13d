import { expect, test } from 'vitest'
import { type RunFacts, runHeldUpBy } from './run-held-up.ts'

const running: RunFacts = {
  ...{ status: 'running', statusReason: null, activeRuns: 1, ratePerSecond: null, waiting: 1, quietForMs: null },
  ...{ withoutKafka: false, withoutRetriers: false, kafkaFault: null, topics: [] },
}

test('a run whose messages wait while Kafka is away says so', () => {
  const kafkaFault = 'connect ECONNREFUSED'
  expect(runHeldUpBy({ ...running, kafkaFault })).toEqual(['no retrier can publish: connect ECONNREFUSED'])
  expect(runHeldUpBy({ ...running, kafkaFault, waiting: 0 })).toEqual([])
})

test.each([
  [{ waiting: 3, quietForMs: 5000 }, 'its canary waits for the outcome of 3 messages'],
  [{ waiting: 0, quietForMs: 4100 }, 'its canary has to be quiet for 5 s more'],
  // Nobody has read them yet.
  [{ waiting: 0, quietForMs: 0 }, 'its canary waits until its messages were read, and stayed away'],
])('a canary of %o says what it waits for', (facts, reason) => {
  expect(runHeldUpBy({ ...running, ...facts })).toEqual([reason])
})
