import { expect, test } from 'vitest'
import { type Judging, judgeOrigin, mayBeLost, originStateOf, originStates, storedOrigin } from './origin-state.ts'

const judge = (
  record: Judging['record'],
  state: Judging['compared']['state'],
  more: Partial<Judging & { hasValue: boolean }> = {},
) => {
  const { mayBeLost = false, triesAgain = true, hasValue = true } = more
  return judgeOrigin({ record, mayBeLost, triesAgain, compared: { state, hasValue } })
}

test('a null that may stand for a value is sent by itself only where the original is known to be null', () => {
  for (const state of ['different', 'unproved', 'mismatch', 'gone', 'unreachable'] as const)
    for (const triesAgain of [true, false])
      expect(judge('dlq', state, { mayBeLost: true, triesAgain })).toMatchObject({ isHeld: true, adopts: false })
  expect(judge('dlq', 'different', { mayBeLost: true }).state).toBe('value_lost')
  expect(judge('origin', 'unproved', { mayBeLost: true }).state).toBe('value_lost')
  // Another record has the value.
  expect(judge('dlq', 'mismatch', { mayBeLost: true }).state).toBe('mismatch')
  expect(judge('dlq', 'same', { mayBeLost: true, hasValue: false })).toMatchObject({ state: 'same', isHeld: false })
  expect(judge('origin-if-available', 'gone', { mayBeLost: true }).isHeld).toBe(true)
})

test('another record than the one that failed is never adopted, and neither is one without a proof', () => {
  for (const record of ['dlq', 'origin', 'origin-if-available'] as const)
    for (const state of ['mismatch', 'unproved', 'gone', 'unreachable'] as const)
      for (const mayBeLost of [true, false]) expect(judge(record, state, { mayBeLost }).adopts).toBe(false)
})

test('a policy adopts what is proved, and says whether the copy is sent otherwise', () => {
  expect(judge('origin', 'different')).toEqual({ state: 'same', isHeld: false, adopts: true })
  expect(judge('origin', 'different', { mayBeLost: true })).toEqual({ state: 'same', isHeld: false, adopts: true })
  expect(judge('origin', 'gone')).toEqual({ state: 'gone', isHeld: true, adopts: false })
  expect(judge('origin-if-available', 'gone')).toEqual({ state: 'gone', isHeld: false, adopts: false })
  expect(judge('origin-if-available', 'unreachable')).toEqual({ state: 'wanted', isHeld: true, adopts: false })
  expect(judge('origin-if-available', 'unreachable', { triesAgain: false }).isHeld).toBe(false)
  expect(judge('dlq', 'different')).toEqual({ state: 'different', isHeld: false, adopts: false })
})

test('only frameworks that serialise again, and share groups that copy nothing, lose values', () => {
  const nothing = { key: null, value: null }
  const deletion = { key: Buffer.from('k'), value: null }
  expect(mayBeLost('smallrye', deletion)).toBe(true)
  expect(mayBeLost('spring-dlt', { key: null, value: Buffer.alloc(0) })).toBe(false)
  expect(mayBeLost('kafka-connect', nothing)).toBe(false)
  expect(mayBeLost('share-group', nothing)).toBe(true)
  expect(mayBeLost('share-group', deletion)).toBe(false)
  expect(mayBeLost(null, nothing)).toBe(false)
})

test('the column says the state and whether it holds', () => {
  for (const state of originStates)
    for (const isHeld of [true, false])
      expect(originStateOf(storedOrigin({ state, isHeld }))).toEqual({ state, isHeld })
  expect(originStateOf(null)).toBeNull()
})
