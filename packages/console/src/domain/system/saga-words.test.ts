import { expect, test } from 'vitest'
import { sagaVerdict } from './saga-words.ts'

const step = (step_name: string, done: boolean, action = 'EXECUTE') => ({
  ...{ step_name, action, completed_at: done ? '2026-11-22T12:00:00Z' : null },
})

test('a workflow says what it does and how far it is', () => {
  expect(sagaVerdict({ status: 'STARTED', steps: [] })).toBe('It waits for a retrier to begin.')
  expect(sagaVerdict({ status: 'RUNNING', steps: [step('admit', true), step('send', false)] })).toBe(
    'It runs: 1 step is taken, and send is under way.',
  )
  expect(
    sagaVerdict({
      status: 'CANCELLED',
      steps: [step('admit', true), step('send', true), step('send', true, 'COMPENSATE')],
    }),
  ).toBe('It was cancelled: 2 steps are taken, and what could be taken back was.')
  expect(sagaVerdict({ status: 'COMPLETED', steps: [] })).toBe('It is at its end: 0 steps are taken.')
})
