import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { compilePolicies } from '../../domain/retry/effective-policy.ts'
import { fieldsOf, settingNames } from '../../domain/retry/policy-settings.ts'
import { defaultRetryPolicy } from '../../domain/retry/retry-policy.ts'
import { ConfigError, loadConfig, policyLayersOf } from './config.ts'
import { policyFieldSchemas, policySettingsSchema } from './policy-schema.ts'

function load(yaml: string, env: Record<string, string> = {}) {
  return loadConfig({ yaml, env, needs: [] }).config
}

/** The policy of topics without an entry: the built-in one, with the section "retry" over it. */
function ofSection({ retry }: ReturnType<typeof load>) {
  return { ...defaultRetryPolicy, ...fieldsOf(policyLayersOf({ retry, policies: [] }).section) }
}

function faultsOf(yaml: string, env: Record<string, string> = {}): readonly string[] {
  try {
    load(yaml, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  throw new Error('the configuration has no faults')
}

const wayfair = `
policies:
  - pattern: reports.*
    max_retries: 240
    backoff: fixed
    initial_delay: 0s
    run_every: 6h
    run_limit: 50
`

test('every setting of a policy can be written', () => {
  const ofFiles = settingNames.filter((name) => name !== 'delivery')
  expect(Object.keys(policyFieldSchemas)).toEqual(ofFiles)
  expect(Object.keys(policySettingsSchema.pipe[0].entries).toSorted()).toEqual(settingNames.toSorted())
})

test('the entries of the file apply to the topics of their patterns, and win over the section "retry"', () => {
  const config = load(`retry: { max_retries: 5, weight: 3 }\n${wayfair}`)
  const effectivePolicyOf = compilePolicies({ ...policyLayersOf(config), rows: [] })

  expect(effectivePolicyOf({ original_topic: 'reports.daily', dlq_topic: null }).policy).toEqual({
    ...ofSection(config),
    maxRetries: 240,
    backoff: 'fixed',
    initialDelayMs: 0,
    runEveryMs: 21_600_000,
    runLimit: 50,
  })
  expect(effectivePolicyOf({ original_topic: 'orders', dlq_topic: null })).toMatchObject({
    policy: ofSection(config),
    origins: { maxRetries: { source: 'config', pattern: null }, backoff: { source: 'default', pattern: null } },
  })
})

test('the section takes every setting from the environment', () => {
  const config = load('', {
    DLQ_RETRY_BACKOFF: 'list',
    DLQ_RETRY_BACKOFF_LIST: '1s, 5m,1h',
    DLQ_RETRY_RATE_PER_SECOND: '2.5',
    DLQ_RETRY_PAUSED: 'true',
    DLQ_RETRY_ORDERING: 'per-key',
    DLQ_RETRY_RUN_EVERY: '0',
  })
  expect(ofSection(config)).toMatchObject({
    backoff: 'list',
    backoffListMs: [1000, 300_000, 3_600_000],
    ratePerSecond: 2.5,
    paused: true,
    ordering: 'per-key',
    runEveryMs: null,
  })
})

test.each(['policies:', 'policies: []', ''])('an empty list (%j) sets nothing', (yaml) => {
  expect(policyLayersOf(load(yaml)).fileEntries).toEqual([])
})

test('null sets nothing', () => {
  expect(v.parse(policySettingsSchema, { max_retries: null, backoff: null, backoff_list: null })).toEqual({
    max_retries: null,
    backoff: null,
    backoff_list: null,
  })
})

test('a target that a record would choose is refused', () => {
  const faults = (target: string) => faultsOf(`policies: [{ pattern: '*', redirect_topic: '${target}' }]`)
  for (const target of ['{group}.retry', 'retry.{group}', '{group}.{topic}'])
    expect(faults(target), target).toEqual([expect.stringMatching(/^policies\.0\.redirect_topic: must have \{topic\}/)])
  expect(ofSection(load(`retry: { redirect_topic: 'retry.{topic}.{group}' }`))).toMatchObject({
    redirectTopic: 'retry.{topic}.{group}',
  })
})

describe('a fault', () => {
  test('is named by the entry and the key', () => {
    const yaml = `
policies:
  - { pattern: orders.*, max_retries: 0, backof: fixed }
  - { pattern: "orders.* payments.*", ordering: by-key, initial_delay: 367d }
  - { max_in_flight: 10, refailure_window: 10ms, run_every: 10ms }
  - { pattern: orders, backoff: list }
`
    expect(faultsOf(yaml)).toEqual([
      'policies.0.max_retries: 0 is not a number of attempts (1 to 1000)',
      expect.stringMatching(
        /^policies\.0\.backof: unknown key; known here: pattern, auto_retry, max_retries, backoff, /,
      ),
      expect.stringMatching(/^policies\.1\.pattern: must be one topic glob/),
      'policies.1.initial_delay: must be at most 366d',
      'policies.1.ordering: must be one of none, per-key',
      expect.stringMatching(/^policies\.2\.pattern: /),
      'policies.2.run_every: must be at least 1s, or 0 for none',
      'policies.2.refailure_window: must be at least 1s',
      'policies.3.backoff_list: missing; the backoff "list" needs it in the same place',
    ])
  })

  test('is a value that is no list, an entry that is no mapping, and a pattern given twice', () => {
    expect(faultsOf('policies: { pattern: "*" }')).toEqual([
      'policies: must be a list of policies, each with its pattern',
    ])
    expect(faultsOf('policies: [orders]')).toEqual(['policies.0: must be a policy with keys'])
    expect(faultsOf('policies: [{ pattern: a }, { pattern: b }, { pattern: a, weight: 2 }]')).toEqual([
      'policies: must not have two policies of the same pattern',
    ])
  })

  test('is the setting "delivery", which only rows may have', () => {
    expect(faultsOf('policies: [{ pattern: orders, delivery: pull }]')).toEqual([
      expect.stringMatching(/^policies\.0\.delivery: must be set in a row of dlq_policies/),
    ])
  })

  test('is the backoff "list" without a list in the section "retry" too', () => {
    expect(faultsOf('retry: { backoff: list }')).toEqual([
      'retry.backoff_list: missing; the backoff "list" needs it in the same place',
    ])
  })

  test.each(['', 'a b', 'a,b', 'größe', '[a-z]', 'x'.repeat(250)])('is the pattern %j', (pattern) => {
    expect(faultsOf(JSON.stringify({ policies: [{ pattern }] }))).toEqual([
      expect.stringMatching(/^policies\.0\.pattern: must be one topic glob/),
    ])
  })

  test.each([
    ['1s,', '" is not a duration'],
    ['', '" is not a duration'],
    [[], 'must not be empty'],
    ['400d', 'must be at most 366d'],
    [[null], 'must be a duration'],
    [7, 'must be a list of durations'],
  ])('is the list of delays %j', (backoff_list, fault) => {
    const [only, ...more] = faultsOf(JSON.stringify({ policies: [{ pattern: '*', backoff_list }] }))
    expect(only).toContain(fault)
    expect(only).toMatch(/^policies\.0\.backoff_list/)
    expect(more).toEqual([])
  })
})
