import { expect, test } from 'vitest'
import { changeWords, type MatchFacts, matchWords, saidWords } from './policy-words.ts'

const match = (pending: number, decides: string[], changes: MatchFacts['changes'] = []): MatchFacts => ({
  ...{ original_topic: 'orders', dlq_topic: 'orders.dlq.v1', pending, decides, changes },
})

test('a policy is a line of what it says', () => {
  expect(saidWords({ max_retries: 5, paused: true, backoff_list: null })).toBe('Attempts 5, Paused yes')
  expect(saidWords({})).toBe('says nothing')
})

test('what a policy decides is said with what waits there', () => {
  expect(matchWords([])).toBe('It matches no topic that is known.')
  expect(matchWords([match(3, [])])).toBe(
    'It matches 1 topic and decides nothing: more exact patterns say the same settings.',
  )
  expect(matchWords([match(1, ['paused'])])).toBe(
    'It matches 1 topic and decides something for it, where 1 message waits.',
  )
  expect(matchWords([match(300, ['paused']), match(40, ['paused']), match(9, [])])).toBe(
    'It matches 3 topics and decides something for 2 of them, where 340 messages wait.',
  )
})

test('what a change would change is counted, also where it is nothing', () => {
  const change = [{ setting: 'paused', before: false, after: true }] as const
  expect(changeWords([match(5, ['paused'], change), match(9, [])])).toBe('1 topic changes; 5 messages wait there.')
  expect(changeWords([match(9, [])])).toBe('Nothing would change for any topic that is known.')
  expect(changeWords([])).toBe('No topic that is known matches this pattern.')
})
