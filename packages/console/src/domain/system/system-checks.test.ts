import { expect, test } from 'vitest'
import { type SystemFacts, systemChecks, systemVerdict } from './system-checks.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
const calm: SystemFacts = {
  counts: { PENDING: 0 },
  dlq_topics: 12,
  stored_at: at(-2),
  paused_groups: 0,
  summary: { counted_at: at(-3600), drift: 0, unfolded: 12 },
  loss_clock: [],
  paused_topics: [],
  held_topics: [],
  ingesters: [{ id: 'ingester-0', lag: 3, fault: null, partitions: [1, 2] }],
  retriers: [{ id: 'retrier-0', publishes: 'exactly-once', fault: null }],
}
const ready = { status: 'ready', checks: { database: 'ok' } }
const jobs = [{ name: 'archive', schedule: '0 3 * * *', last: { outcome: 'done', error: null, tick: at(-3600) } }]
const check = (facts: SystemFacts, id: string) =>
  systemChecks({ status: facts, ready, jobs }, now).find((one) => one.id === id)!
const clock = { topic: 'orders.dlq.v1', lag: 40, lost: 0, expires_at: at(1800), looked_at: at(-2), loss: 'words' }

test('a calm installation is fine in every check, without advice', () => {
  const checks = systemChecks({ status: calm, ready, jobs }, now)
  expect(checks.filter(({ level, advice }) => level !== 'fine' || advice !== null)).toEqual([])
  expect(systemVerdict(checks)).toBe('All 8 checks are fine.')
  expect(check(calm, 'ingesters').text).toBe('1 ingester reads 2 partitions; 3 records are not stored yet.')
  const many = {
    ...calm,
    ingesters: [{ ...calm.ingesters[0]!, partitions: Array.from({ length: 1000 }, (_, n) => n) }],
  }
  expect(check(many, 'ingesters').text).toMatch(/^1 ingester reads at least 1,000 partitions;/)
})

test('what needs somebody now comes first, and the sentence names it', () => {
  const facts = { ...calm, loss_clock: [clock], retriers: [], counts: { PENDING: 5 }, paused_groups: 2 }
  const checks = systemChecks(
    {
      status: facts,
      ready,
      jobs: [{ ...jobs[0]!, last: { outcome: 'failed', error: 'the disk is full', tick: at(0) } }],
    },
    now,
  )
  expect(checks.map(({ id, level }) => `${id} ${level}`).slice(0, 3)).toEqual(['loss act', 'retriers act', 'jobs look'])
  expect(systemVerdict(checks)).toBe('Needs somebody now: the loss clock and retries. Worth a look: scheduled jobs.')
  expect(checks.every(({ level, advice }) => level === 'fine' || advice !== null)).toBe(true)
})

test('each fault is said in full, with what to do', () => {
  const withFault = { ...calm, retriers: [{ id: 'retrier-1', publishes: 'at-least-once', fault: 'no ACL' }] }
  expect(check(withFault, 'retriers')).toMatchObject({
    level: 'look',
    text: '1 retrier sends: at least once. retrier-1: no ACL',
  })
  expect(check({ ...calm, ingesters: [] }, 'ingesters')).toMatchObject({ level: 'act' })
  expect(check({ ...calm, ingesters: [], dlq_topics: 0, stored_at: null }, 'ingesters')).toMatchObject({
    level: 'look',
  })
  expect(check({ ...calm, held_topics: [{ topic: 'orders', reason: 'too large' }] }, 'retriers').text).toContain(
    'orders is held',
  )
  expect(check({ ...calm, summary: { ...calm.summary!, drift: 3 } }, 'counts')).toMatchObject({ level: 'look' })
  expect(check({ ...calm, loss_clock: [{ ...clock, expires_at: null, looked_at: at(-90) }] }, 'loss').text).toBe(
    'Nobody has looked at orders.dlq.v1 for a minute or more.',
  )
  expect(check({ ...calm, paused_topics: [{ topic: 'a', what: 'ingestion', by: 'jo' }] }, 'pauses')).toMatchObject({
    level: 'look',
  })
  const down = systemChecks(
    { status: null, ready: { status: 'unavailable', checks: { database: 'no answer' } }, jobs: null },
    now,
  )
  expect(down).toMatchObject([{ id: 'ready', level: 'act', text: 'database: no answer' }])
})

test('what a token is not told is no check', () => {
  expect(
    systemChecks({ status: { ...calm, summary: null }, ready, jobs: null }, now).map(({ id }) => id),
  ).not.toContain('counts')
})
