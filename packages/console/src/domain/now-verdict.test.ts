import { expect, test } from 'vitest'
import { type NowFacts, nowVerdict } from './now-verdict.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString()

const calm: NowFacts = {
  counts: { PENDING: 0, RETRYING: 0, RESOLVED: 900, DEAD: 0 },
  oldest_pending_at: null,
  ingest: { per_minute: 0 },
  retry: { per_minute: 0, success_rate: null },
  loss_clock: [],
  dlq_topics: 12,
  stored_at: ago(2),
  paused_groups: 0,
  paused_topics: [],
  held_topics: [],
  retriers: [{ publishes: 'exactly-once', fault: null }],
}
const losing = { topic: 'orders.dlq.v1', lag: 41_200, lost: 0, looked_at: ago(5), loss: 'words' }
const none = { burning: 0, fresh: 0, open: 0, partly: false }
const texts = (facts: NowFacts, groups = none) => nowVerdict(facts, groups, now).map(({ text }) => text)

test('a calm installation says so, and that nothing is near its expiry', () => {
  expect(texts(calm)).toEqual(['No dead letters are open.', 'Nothing is near its expiry.'])
})

test('what burns comes with its numbers, in full', () => {
  const facts = {
    ...calm,
    counts: { PENDING: 12_340, RETRYING: 1, RESOLVED: 0, DEAD: 27 },
    oldest_pending_at: ago(1080),
    retry: { per_minute: 21.4, success_rate: 0.769 },
  }
  expect(texts(facts, { ...none, burning: 3, fresh: 1, open: 4 })).toEqual([
    '3 groups burn, 1 is new. 27 messages are DEAD and 12,341 wait, the oldest for 18 m.',
    'Retries go out at 21/min; 76 % of those sent in the last 5 m have stayed away.',
    'Nothing is near its expiry.',
  ])
})

test('where more groups are open than were read, their number is a lower bound, and said to be one', () => {
  const facts = { ...calm, counts: { ...calm.counts, DEAD: 90 } }
  expect(texts(facts, { burning: 50, fresh: 71, open: 74, partly: true })[0]).toBe(
    'At least 50 of 74 open groups burn, 71 are new. 90 messages are DEAD.',
  )
})

test('records that are lost come before everything else, and say what to do', () => {
  const facts = { ...calm, loss_clock: [{ ...losing, lost: 3, expires_at: null }] }
  expect(texts(facts, { ...none, burning: 1 })[0]).toBe(
    '3 records were lost unread in orders.dlq.v1: raise retention.ms now, then ingestion.',
  )
})

test('an expiry within the hour is to act on, within six hours to look at', () => {
  const at = (seconds: number) => ({ ...calm, loss_clock: [{ ...losing, expires_at: ago(-seconds) }] })
  expect(nowVerdict(at(1800), none, now)[0]).toMatchObject({ severity: 'act' })
  expect(nowVerdict(at(11_400), none, now)[1]).toMatchObject({
    severity: 'look',
    text: '41,200 records of orders.dlq.v1 wait unread; Kafka deletes the first in 3 h 10 m.',
  })
  expect(texts(at(100_000))).toEqual(['No dead letters are open.'])
})

test('what somebody has paused is said, because it looks like a fault', () => {
  const paused = { topic: 'orders', what: 'retries', by: 'maria' }
  expect(texts({ ...calm, paused_topics: [paused] })).toEqual([
    'No dead letters are open.',
    'maria has paused retries of orders.',
  ])
  expect(texts({ ...calm, paused_topics: [paused, paused, paused] })[1]).toBe(
    'maria has paused retries of orders, and 2 more.',
  )
})

test('messages that wait while nobody can send are the first thing said', () => {
  const facts = { ...calm, counts: { ...calm.counts, PENDING: 1 }, retriers: [] }
  expect(texts(facts)[0]).toBe('Nothing is sent: no retrier is running.')
})

test('there are never more than three sentences', () => {
  const facts = {
    ...calm,
    counts: { PENDING: 5, RETRYING: 0, RESOLVED: 0, DEAD: 1 },
    loss_clock: [{ ...losing, lost: 3, expires_at: null }],
    retriers: [{ publishes: 'nothing', fault: 'Kafka does not answer' }],
    retry: { per_minute: 1, success_rate: 1 },
  }
  expect(texts(facts, { ...none, burning: 1, fresh: 1 })).toHaveLength(3)
})
