import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { actionWords, knownActions, targetName, targetTypes } from './audit-words.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const source = globSync('{services/{api,retrier},packages/dlq-core}/src/**/*.ts', { cwd: root })
  .filter((file) => !/\/(test-[^/]+|[^/]+\.test)\.ts$/.test(file))
  .map((file) => readFileSync(root + file, 'utf8'))
  .join('\n')

test('every action that is written into the audit has words', () => {
  const written = [...source.matchAll(/action: '([a-z]+(?:\.[a-z_]+)+)'/g)].map(([, action]) => action!)
  expect(written.length).toBeGreaterThan(10)
  expect([...new Set(written)].filter((action) => !knownActions.includes(action))).toEqual([])
})

test('the filter has every kind of thing that the audit names', () => {
  const written = [...source.matchAll(/target_type: ([^,}]+)/g)].flatMap(([, value]) =>
    [...value!.matchAll(/'([a-z_-]+)'/g)].map(([, type]) => type!),
  )
  expect([...new Set([...written, 'consumer_group'])].toSorted()).toEqual(targetTypes.toSorted())
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
