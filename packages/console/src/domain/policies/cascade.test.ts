import { compilePolicies } from 'dlq-core/domain/retry/effective-policy.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byExactness, cascadeOf, layersOf, policyWith } from './cascade.ts'

const listed = {
  policies: [
    { pattern: 'orders', max_retries: 9 },
    { pattern: 'orders*', max_retries: 7, initial_delay: '1m', backoff_list: ['1m', '1h30m'] },
    { pattern: '*', max_retries: 5, redirect_topic: '' },
    { pattern: 'invoices', max_retries: 1 },
  ],
  configured: [
    { pattern: null, retention: '7d', redirect_topic: 'parking' },
    { pattern: 'orders.*', weight: 4 },
  ],
}
const topics = { original_topic: 'orders', dlq_topic: 'orders.dlq.v1' }

test('a topic has a column for each layer that matches it, from the weakest to the strongest', () => {
  const { columns, rows } = cascadeOf(listed, topics)
  expect(columns.map(({ source, pattern }) => pattern ?? source)).toEqual([
    'default',
    'config',
    'orders.*',
    '*',
    'orders*',
    'orders',
  ])
  const row = (name: string) => rows.find(({ setting }) => setting === name)!
  expect(row('max_retries')).toMatchObject({ values: [3, undefined, undefined, 5, 7, 9], decides: 5 })
  expect(row('initial_delay')).toMatchObject({
    values: ['5m', undefined, undefined, undefined, '1m', undefined],
    decides: 4,
  })
  expect(row('backoff_list').values[4]).toEqual(['1m', '1h30m'])
  expect(row('redirect_topic')).toMatchObject({
    values: [null, 'parking', undefined, null, undefined, undefined],
    decides: 3,
  })
  expect(row('retention')).toMatchObject({ decides: 1 })
})

test('what a change would put in force is what the services would decide', () => {
  const said = { max_retries: 12 }
  expect(policyWith(listed, { pattern: 'orders*', said }, topics)).toMatchObject({
    maxRetries: 9,
    initialDelayMs: 300_000,
  })
  expect(policyWith(listed, { pattern: 'orders', said }, topics)).toMatchObject({
    maxRetries: 12,
    initialDelayMs: 60_000,
  })
})

test('the order of the list is the order in which policies win', () => {
  const glob = fc.stringMatching(/^[ab*?]{1,5}$/)
  const topic = fc.stringMatching(/^[ab]{1,5}$/)
  fc.assert(
    fc.property(fc.uniqueArray(glob, { maxLength: 6 }), topic, (patterns, original_topic) => {
      const rows = byExactness(patterns.map((pattern) => ({ pattern })))
      const policies = rows.map(({ pattern }, index) => ({ pattern, max_retries: index + 1 }))
      const layers = layersOf({ policies, configured: [] })
      const { origins } = compilePolicies(layers)({ original_topic, dlq_topic: null })
      const { columns } = cascadeOf({ policies, configured: [] }, { original_topic, dlq_topic: null })
      const matching = columns.filter(({ source }) => source === 'policy').map(({ pattern }) => pattern)
      expect(matching).toEqual(rows.map(({ pattern }) => pattern).filter((pattern) => matching.includes(pattern)))
      expect(origins.maxRetries.pattern).toBe(matching.at(-1) ?? null)
    }),
  )
})
