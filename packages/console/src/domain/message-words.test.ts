import { expect, test } from 'vitest'
import { type MessageFacts, whatNext } from './message-words.ts'

const held: MessageFacts = {
  ...{ status: 'PENDING', retryable: false, held_up_by: [], next_retry_at: null, retry_count: 0, max_retries: 3 },
  ...{ archived_at: null, attempts: [], origin_state: 'gone' },
  not_retryable_because: 'gone: the record that failed is gone; edit the value',
}

test('a reason that names the state of the original for programs is said without that name', () => {
  expect(whatNext(held, 0)).toBe('It cannot be sent: the record that failed is gone; edit the value.')
  const waits = { ...held, retryable: true, not_retryable_because: null, held_up_by: ['gone: it is gone', 'paused'] }
  expect(whatNext(waits, 0)).toBe('Waits: it is gone; paused.')
  expect(whatNext({ ...waits, origin_state: null }, 0)).toBe('Waits: gone: it is gone; paused.')
})
