import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { actionWords, knownActions, targetName } from './audit-words.ts'

test('every action that the API writes into the audit has words', () => {
  const root = fileURLToPath(new URL('../../../../../', import.meta.url))
  const files = globSync('{services/api,packages/dlq-core}/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.includes('.test.'),
  )
  const written = files.flatMap((file) =>
    [...readFileSync(`${root}${file}`, 'utf8').matchAll(/action: '([a-z]+\.[a-z_]+)'/g)].map(([, action]) => action!),
  )
  expect(written.length).toBeGreaterThan(10)
  expect([...new Set(written)].filter((action) => !knownActions.includes(action))).toEqual([])
})

test('an action that is new is shown as it is, and long ids are short', () => {
  expect(actionWords('message.dead')).toBe('gave up the message')
  expect(actionWords('moon.land')).toBe('moon.land')
  expect(targetName('message', '019ab3f2-1111-7000-8000-00000000abcd')).toBe('…0000abcd')
  expect(targetName('group', '019ab3f2-1111-8000-8000-00000000abcd', 'Late in Stock.reserve')).toBe(
    '“Late in Stock.reserve”',
  )
  expect(targetName('policy', 'orders.*')).toBe('orders.*')
})
