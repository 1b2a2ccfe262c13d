import { expect, test } from 'vitest'
import { type TopicFacts, topicMarks, topicVerdict } from './topic-verdict.ts'

const now = Date.parse('2026-11-22T12:00:00Z')
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()
const clock = { lag: 0, lost: 0, expires_at: null, looked_at: at(-2), loss: null }
const calm: TopicFacts = {
  kind: 'dlq',
  counts: { PENDING: 0, RETRYING: 0, RESOLVED: 9, DEAD: 0 },
  oldest_pending_at: null,
  found: { gone_at: null },
  ingestion: { loss_clock: clock },
  paused: null,
  ingestion_paused: null,
  policy: {},
}
const texts = (facts: TopicFacts, held: string | null = null) => topicVerdict(facts, held, now).map(({ text }) => text)

test('a calm topic says so in one sentence', () => {
  expect(texts(calm)).toEqual(['Nothing waits and nothing is given up.'])
})

test('what is lost comes first, then why nothing moves, then what waits', () => {
  const facts = {
    ...calm,
    counts: { PENDING: 343, RETRYING: 0, RESOLVED: 0, DEAD: 27 },
    oldest_pending_at: at(-1080),
    ingestion: { loss_clock: { ...clock, lag: 8, lost: 12 } },
    paused: { by: 'maria', reason: 'the card network is down', since: at(-120), until: at(7200) },
    policy: { paused: { value: true, source: 'policy', pattern: '*' } },
  }
  expect(texts(facts)).toEqual([
    '12 records were lost unread: raise retention.ms now, then ingestion.',
    'Retries are paused by maria for 2 m (the card network is down); it ends in 2 h.',
    'Nothing is sent, even if somebody asks: the policy * pauses it.',
    '27 messages are DEAD and 343 wait, the oldest for 18 m.',
  ])
})

test('each way to stand still is named with who decided it', () => {
  const policy = {
    auto_retry: { value: false, source: 'config', pattern: 'orders.*' },
    delivery: { value: 'pull', source: 'policy', pattern: 'orders' },
  }
  expect(texts({ ...calm, policy }, 'the record is too large.')).toEqual([
    'It is held and only probed: the record is too large.',
    'Nothing is tried by itself: so says the configuration for orders.*.',
    'Its application claims its dead letters itself: so says the policy orders.',
    'Nothing waits and nothing is given up.',
  ])
})

test('an expiry that is past, an old look and a topic that is gone are said', () => {
  const soon = { ...clock, lag: 5, expires_at: at(-1), looked_at: at(-240) }
  expect(texts({ ...calm, ingestion: { loss_clock: soon } }).slice(0, 2)).toEqual([
    '5 records wait unread; Kafka deletes the first at any time.',
    'Nobody has looked at it for 4 m: is an ingester running?',
  ])
  expect(texts({ ...calm, found: { gone_at: at(-7200) } })[0]).toBe(
    'Kafka has not listed this topic since 2 h ago: it was deleted, or an ACL hides it.',
  )
})

test('marks name what is unusual, and nothing else', () => {
  expect(topicMarks(calm)).toEqual([])
  const pause = { by: 'jo', reason: 'r', since: at(0), until: null }
  const policy = {
    rate_per_second: { value: 20, source: 'policy', pattern: '*' },
    ordering: { value: 'per-key', source: 'config', pattern: null },
    payload: { value: 'stored', source: 'default', pattern: null },
  }
  expect(topicMarks({ paused: pause, ingestion_paused: pause, policy })).toEqual([
    'retries paused',
    'ingestion paused',
    '20/s',
    'per key',
  ])
})
