import { expect, test } from 'vitest'
import { soughtKind } from './sought-kind.ts'

test('an address that no page has still says what was looked for', () => {
  expect(soughtKind('/messages/019/what')).toBe('a message')
  expect(soughtKind('/policies/a/b/c')).toBe('a policy')
  expect(soughtKind('/nowhere')).toBeNull()
  expect(soughtKind('/')).toBeNull()
})
