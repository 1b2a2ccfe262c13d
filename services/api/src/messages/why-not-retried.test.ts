import { describe, expect, test } from 'vitest'
import { heldUpBy, type RetryFacts, whyNotRetryable } from './why-not-retried.ts'

const waiting: RetryFacts = {
  status: 'PENDING',
  retryCount: 1,
  maxRetries: 3,
  nextRetryAt: new Date(0),
  retryRequested: false,
  archived: false,
  unheld: false,
  topicUncertain: false,
  lastRefusal: null,
  groupPaused: null,
  topicsPaused: [],
  routeClosed: null,
  origin: null,
  stale: null,
  unstoredValueBytes: null,
  headersUnreadable: false,
  topicHeld: null,
}
const policy = { paused: false, autoRetry: true, delivery: 'republish' } as const

describe('a message may be retried', () => {
  test.each<[Partial<RetryFacts>, string | null]>([
    [{}, null],
    [{ status: 'RETRYING', retryCount: 3 }, null],
    [{ retryCount: 3 }, 'message is not retryable: status=PENDING, retry_count=3/3'],
    [{ status: 'RETRYING', unheld: true }, null],
    [{ status: 'RETRYING', unheld: true, retryCount: 3 }, 'message is not retryable: status=RETRYING, retry_count=3/3'],
    [{ routeClosed: 'a may not send to b' }, 'a may not send to b; approve the route, or force the retry'],
    [
      { stale: 'a newer one stands at offset 7' },
      'the policy holds it: a newer one stands at offset 7; force the retry with a reason',
    ],
    [
      { origin: { state: 'value_lost', isHeld: true } },
      'value_lost: the dead letter has no value, but the record that failed has one, and without it a retry would delete; adopt the original, edit the value, or force the retry with a reason',
    ],
    // Nobody can adopt what is not there.
    [
      { origin: { state: 'gone', isHeld: true } },
      'gone: the record that failed is gone, so nobody knows what it held; edit the value, or force the retry with a reason',
    ],
    [
      { origin: { state: 'unreachable', isHeld: true } },
      'unreachable: the record that failed could not be read, so nobody knows what it held; compare again, edit the value, or force the retry with a reason',
    ],
    [{ status: 'DEAD', retryCount: 3 }, 'message is not retryable: status=DEAD, retry_count=3/3'],
    [{ status: 'RESOLVED' }, 'message is not retryable: status=RESOLVED, retry_count=1/3'],
    [{ status: 'DEAD', archived: true }, 'message is archived; restore it first'],
  ])('where %j: %s', (facts, reason) => {
    expect(whyNotRetryable({ ...waiting, ...facts })).toBe(reason)
  })
})

describe('a message that may be retried waits', () => {
  test('for its time alone, where no other reason holds it up', () => {
    expect(heldUpBy(waiting, policy)).toEqual([])
  })

  test('for the policy of its topic, even if somebody asked for it', () => {
    expect(heldUpBy({ ...waiting, retryRequested: true }, { ...policy, paused: true })).toEqual([
      'the policy pauses the topic',
    ])
  })

  test('for its application, where that retries by itself, and for no pause of its error group', () => {
    const pulled = { ...policy, delivery: 'pull' } as const
    expect(heldUpBy({ ...waiting, groupPaused: '25 failed again' }, pulled)).toEqual([
      expect.stringContaining('its application'),
    ])
  })

  test('for its error group, unless somebody asked for it', () => {
    const paused = { ...waiting, groupPaused: '25 failed again' }
    expect(heldUpBy(paused, policy)).toEqual([expect.stringContaining('25 failed again')])
    expect(heldUpBy({ ...paused, retryRequested: true }, policy)).toEqual([])
  })

  test('for its topic, where records for it are refused, whoever asked', () => {
    const topicHeld = { topic: 'orders', reason: 'the topic does not exist' }
    expect(heldUpBy({ ...waiting, retryRequested: true, topicHeld }, policy)).toEqual([
      'records for orders are refused, so it is only probed: the topic does not exist',
    ])
  })

  test('for somebody to ask, where it has no time', () => {
    const unscheduled = { ...waiting, nextRetryAt: null }
    expect(heldUpBy({ ...unscheduled, topicUncertain: true }, policy)).toEqual([
      'it is not retried by itself: its original topic is not certain',
    ])
    expect(heldUpBy({ ...unscheduled, lastRefusal: 'MESSAGE_TOO_LARGE' }, policy)).toEqual([
      'it is not retried by itself: its last attempt was refused: MESSAGE_TOO_LARGE',
    ])
    expect(heldUpBy(unscheduled, policy)).toEqual([expect.stringContaining('taken off the schedule')])
    expect(heldUpBy({ ...waiting, nextRetryAt: null }, { ...policy, autoRetry: false })).toEqual([
      'the policy retries nothing by itself',
    ])
  })

  test('for its route, where its DLQ topic may not send to its original topic', () => {
    const routeClosed = 'evil.dlq.v1 has not been allowed to send to payments'
    expect(heldUpBy({ ...waiting, nextRetryAt: null, routeClosed }, policy)).toEqual([routeClosed])
  })

  test('for a sweep, where it is RETRYING and nobody holds it', () => {
    expect(heldUpBy({ ...waiting, status: 'RETRYING', unheld: true }, policy)).toEqual([
      expect.stringContaining('no retrier and no application holds it'),
    ])
  })

  test('for nothing where it cannot be retried, or is being retried', () => {
    expect(heldUpBy({ ...waiting, status: 'DEAD', nextRetryAt: null }, policy)).toEqual([])
    expect(heldUpBy({ ...waiting, status: 'RETRYING', nextRetryAt: null }, policy)).toEqual([])
  })
})
