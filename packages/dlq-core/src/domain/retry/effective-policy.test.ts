import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesTopicGlobs } from '../failure/topic-globs.ts'
import { compilePolicies, mayAskAboutNewer, type PolicyLayers, type TopicPolicy } from './effective-policy.ts'
import { fieldOfSetting, fieldsOf, type PolicySettings } from './policy-settings.ts'
import { defaultRetryPolicy } from './retry-policy.ts'

const nothing: PolicyLayers = { section: {}, fileEntries: [], rows: [] }
const orders = { original_topic: 'orders.events.v1', dlq_topic: 'orders.events.v1.dlq' }

function policyOf(
  layers: Partial<PolicyLayers>,
  topics: { original_topic: string; dlq_topic: string | null } = orders,
) {
  return compilePolicies({ ...nothing, ...layers })(topics)
}

/** Which of the patterns decides a field that all of them set. */
function winnerOf(patterns: readonly string[], topics: { original_topic: string; dlq_topic: string | null } = orders) {
  const rows = patterns.map((pattern, index) => ({ pattern, weight: index + 1 }))
  const { policy, origins } = policyOf({ rows }, topics)
  expect(patterns[policy.weight - 1]).toBe(origins.weight.pattern)
  return origins.weight.pattern
}

test('without any settings the built-in defaults apply to every topic', () => {
  const { policy, origins } = policyOf({})
  expect(policy).toEqual(defaultRetryPolicy)
  expect(new Set(Object.values(origins).map(({ source }) => source))).toEqual(new Set(['default']))
})

test('a topic may ask about newer records where any layer says so', () => {
  const asking = { staleness: 'warn' } as const
  const entry = { pattern: 'orders.*', ...asking }
  const layers: Partial<PolicyLayers>[] = [{ section: asking }, { fileEntries: [entry] }, { rows: [entry] }]
  for (const layer of layers) expect(mayAskAboutNewer({ ...nothing, ...layer })).toBe(true)
  expect(mayAskAboutNewer(nothing)).toBe(false)
  expect(mayAskAboutNewer({ ...nothing, rows: [{ pattern: '*', staleness: 'ignore' }] })).toBe(false)
})

test('rows win over the file’s entries, these over its section, this over the defaults, each only in the settings that it has', () => {
  const { policy, origins } = policyOf({
    section: { max_retries: 5, weight: 5, paused: true, initial_delay: 1000 },
    fileEntries: [{ pattern: 'orders.*', weight: 6, paused: false, max_retries: 6 }],
    rows: [{ pattern: '*', max_retries: 7, rate_per_second: null }],
  })
  expect(policy).toEqual({ ...defaultRetryPolicy, maxRetries: 7, weight: 6, paused: false, initialDelayMs: 1000 })
  expect(origins).toMatchObject({
    maxRetries: { source: 'policy', pattern: '*' },
    weight: { source: 'config', pattern: 'orders.*' },
    paused: { source: 'config', pattern: 'orders.*' },
    initialDelayMs: { source: 'config', pattern: null },
    ratePerSecond: { source: 'default', pattern: null },
  })
})

test('a value that equals the default has the origin that set it', () => {
  const { origins } = policyOf({ section: { max_retries: defaultRetryPolicy.maxRetries } })
  expect(origins.maxRetries).toEqual({ source: 'config', pattern: null })
})

test('a narrow pattern can undo the setting of a wide one', () => {
  const rows = [
    { pattern: '*', redirect_topic: 'parking', run_every: 3_600_000, refailure_threshold: 5, paused: true },
    { pattern: 'orders.*', redirect_topic: '', run_every: 0, refailure_threshold: 0, paused: false },
  ]
  expect(policyOf({ rows }).policy).toEqual({ ...defaultRetryPolicy, refailureThreshold: null })
})

describe('of the patterns that match', () => {
  test.each([
    ['the name without wildcards', ['orders.*', 'orders.events.v1', 'orders.events.v?'], 'orders.events.v1'],
    [
      'the original topic’s name before the DLQ topic’s',
      ['orders.events.v1.dlq', 'orders.events.v1'],
      'orders.events.v1',
    ],
    ['the DLQ topic’s name before any glob', ['orders.events.v?', 'orders.events.v1.dlq'], 'orders.events.v1.dlq'],
    ['the one with fewer wildcards', ['*.*events.v1', 'or*'], 'or*'],
    ['the one with more other characters', ['*', 'orders.*', 'orders.events.*'], 'orders.events.*'],
    ['a DLQ topic’s glob before a wider one that matches the original topic too', ['*', '*.dlq'], '*.dlq'],
    ['of equal ones that which matches the original topic', ['*.dlq', '*s.v1', '*.v1'], '*s.v1'],
    ['of equal ones that which matches the original topic, in either order', ['*.v1', '*dlq'], '*.v1'],
    [
      'of entirely equal ones the first in the order of text',
      ['*events.v1', 'orders.eve*', 'orders.ev?nts.v1'],
      'orders.ev?nts.v1',
    ],
    [
      'and at last the order of text',
      ['*rs.events.v1', '*ers.events.v1', 'orders.event*', 'orders.even?s*'],
      '*ers.events.v1',
    ],
  ])('wins %s', (_, patterns, winner) => {
    expect(winnerOf(patterns)).toBe(winner)
    expect(winnerOf(patterns.toReversed())).toBe(winner)
  })

  test('none matches the missing DLQ topic of a message', () => {
    expect(winnerOf(['*'], { original_topic: 'orders', dlq_topic: null })).toBe('*')
    expect(
      policyOf({ rows: [{ pattern: 'null', weight: 9 }] }, { original_topic: 'orders', dlq_topic: null }).policy.weight,
    ).toBe(1)
  })

  test('one for a DLQ topic sets everything but the delivery, because applications claim by the original topic', () => {
    const topics = { original_topic: 'orders', dlq_topic: 'orders.dlq' }
    const said = (pattern: string) => policyOf({ rows: [{ pattern, weight: 9, delivery: 'pull' }] }, topics)
    expect(said('orders.dlq').policy).toMatchObject({ weight: 9, delivery: defaultRetryPolicy.delivery })
    expect(said('orders.dlq').origins.delivery.source).toBe('default')
    expect(said('orders*').policy).toMatchObject({ weight: 9, delivery: 'pull' })
  })

  test('a pattern is one glob, not a list of them', () => {
    expect(policyOf({ rows: [{ pattern: 'a,orders.events.v1', weight: 9 }] }).policy.weight).toBe(1)
  })
})

const anyTopic = fc.stringMatching(/^[ab.]{1,4}$/)
const anyPattern = fc.stringMatching(/^[ab.*?]{1,4}$/)
const anySettings: fc.Arbitrary<PolicySettings> = fc.record(
  {
    max_retries: fc.option(fc.integer({ min: 1, max: 9 })),
    paused: fc.option(fc.boolean()),
    weight: fc.option(fc.integer({ min: 1, max: 9 })),
    redirect_topic: fc.option(fc.constantFrom('', 'parking')),
  },
  { requiredKeys: [] },
)
const anyEntries = fc.uniqueArray(
  fc.tuple(anyPattern, anySettings).map(([pattern, settings]): TopicPolicy => ({ pattern, ...settings })),
  { maxLength: 8, selector: ({ pattern }) => pattern },
)
const anyLayers = fc.record({ section: anySettings, fileEntries: anyEntries, rows: anyEntries })
const anyTopics = fc.record({ original_topic: anyTopic, dlq_topic: fc.option(anyTopic) })

test('the order in which entries are given never matters', () => {
  fc.assert(
    fc.property(anyLayers, anyTopics, (layers, topics) => {
      const { section, fileEntries, rows } = layers
      const turned = { section, fileEntries: fileEntries.toReversed(), rows: rows.toReversed() }
      expect(compilePolicies(turned)(topics)).toEqual(compilePolicies(layers)(topics))
    }),
  )
})

test('every field’s origin sets that value and applies to the topic', () => {
  fc.assert(
    fc.property(anyLayers, anyTopics, ({ section, fileEntries, rows }, topics) => {
      const { policy, origins } = compilePolicies({ section, fileEntries, rows })(topics)
      for (const field of Object.values(fieldOfSetting)) {
        const { source, pattern } = origins[field]
        const settings =
          pattern === null
            ? section
            : (source === 'policy' ? rows : fileEntries).find((entry) => entry.pattern === pattern)!
        const said = source === 'default' ? defaultRetryPolicy : fieldsOf(settings)
        expect(said[field]).toBe(policy[field])
        if (pattern !== null) {
          const names = [topics.original_topic, topics.dlq_topic].filter((name) => name !== null)
          expect(names.some((name) => matchesTopicGlobs(pattern, name))).toBe(true)
        }
      }
    }),
  )
})

test('a row about exactly the original topic is never overruled', () => {
  fc.assert(
    fc.property(anyLayers, anyTopics, anySettings, (layers, topics, settings) => {
      const others = layers.rows.filter(({ pattern }) => pattern !== topics.original_topic)
      const rows = [{ pattern: topics.original_topic, ...settings }, ...others]
      expect(compilePolicies({ ...layers, rows })(topics).policy).toMatchObject(fieldsOf(settings))
    }),
  )
})
