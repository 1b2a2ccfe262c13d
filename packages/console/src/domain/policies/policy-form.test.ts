import { settingNames } from 'dlq-core/domain/retry/policy-settings.ts'
import {
  backoffs,
  deliveries,
  orderings,
  payloadChoices,
  recordChoices,
  timestampChoices,
} from 'dlq-core/domain/retry/retry-policy.ts'
import { stalenessChoices } from 'dlq-core/domain/staleness/staleness.ts'
import { expect, test } from 'vitest'
import { consequences, noTopic, readForm, rebased, textsOf } from './policy-form.ts'
import { settingGroups, settingWords, valueWords } from './setting-words.ts'

test('every setting stands in one of the seven groups, once', () => {
  expect(settingGroups.flatMap(({ settings }) => settings).toSorted()).toEqual([...settingNames].toSorted())
  expect(settingGroups).toHaveLength(7)
  expect(Object.keys(settingWords).toSorted()).toEqual([...settingNames].toSorted())
})

test('what a policy says is what the form says, and the other way round', () => {
  const policy = {
    auto_retry: false,
    max_retries: 5,
    backoff: 'list',
    backoff_list: ['1m', '1h30m'],
    rate_per_second: 0.5,
    redirect_topic: '',
    run_every: '0s',
    scrub: ['email', 'cust-[0-9]{2,4}'],
    retention: '30d',
  }
  expect(readForm(textsOf(policy))).toEqual({ said: policy, faults: {} })
  expect(textsOf(policy).redirect_topic).toBe(noTopic)
  const others = [
    { redirect_topic: '{topic}.{group}.retry', verdict_group: 'billing: team 7/eu' },
    { redirect_topic: 'orders', verdict_group: '' },
  ]
  for (const said of others) expect(readForm(textsOf(said))).toEqual({ said, faults: {} })
  expect(readForm(textsOf({ scrub: [] })).said).toEqual({ scrub: [] })
  expect(textsOf({ ...policy, max_retries: null }).max_retries).toBeUndefined()
})

test('what cannot be meant has a fault at its field, with the remedy', () => {
  const { said, faults } = readForm({
    max_retries: '5.5',
    rate_per_second: 'fast',
    initial_delay: '90',
    backoff: 'list',
    redirect_topic: 'a topic',
    multiplier: ' 4 ',
    max_delay: '   ',
  })
  expect(said).toEqual({ multiplier: 4, backoff: 'list' })
  expect(Object.keys(faults).toSorted()).toEqual([
    'backoff_list',
    'initial_delay',
    'max_retries',
    'rate_per_second',
    'redirect_topic',
  ])
  expect(faults.initial_delay).toMatch(/such as 30s/)
})

test('what stops everything, moves the sender or shortens the archive says so, and nothing else does', () => {
  expect(consequences('*', {}, { paused: true })).toEqual([expect.stringMatching(/^Every topic stops/)])
  expect(consequences('orders', {}, { paused: true })).toEqual([])
  expect(consequences('orders', {}, { delivery: 'pull' })).toEqual([
    expect.stringMatching(/leave these messages alone/),
  ])
  expect(consequences('orders', { retention: '30d' }, { retention: '7d' })).toHaveLength(1)
  expect(consequences('orders', { retention: '7d' }, { retention: '30d' })).toEqual([])
  expect(consequences('orders', { max_retries: 3 }, { max_retries: 5 })).toEqual([])
})

test('values are words', () => {
  expect(valueWords('paused', true)).toBe('yes')
  expect(valueWords('backoff_list', ['1m', '1h'])).toBe('1m, 1h')
  expect(valueWords('redirect_topic', '')).toBe('the original topic')
  expect(valueWords('verdict_group', '')).toBe('all that read the topic')
  expect(valueWords('rate_per_second', null)).toBe('not set')
})

test('what is typed stands above what somebody else has saved, and what was not touched becomes theirs', () => {
  const before = { max_retries: '3', weight: '2', retention: '30d' }
  const typed = { max_retries: '7', weight: '2', retention: '', initial_delay: '1m' }
  const after = { max_retries: '4', weight: '5', retention: '60d', rate_per_second: '5' }
  expect(rebased(typed, before, after)).toEqual({
    ...{ max_retries: '7', weight: '5', retention: '', initial_delay: '1m', rate_per_second: '5' },
  })
})

test('the choices of a setting are those of the API', () => {
  const known = {
    ...{ backoff: backoffs, delivery: deliveries, ordering: orderings, payload: payloadChoices },
    ...{ record: recordChoices, timestamp: timestampChoices, staleness: stalenessChoices },
  }
  const offered = Object.entries(settingWords).filter(([, { kind }]) => typeof kind !== 'string')
  expect(Object.fromEntries(offered.map(([name, { kind }]) => [name, [...kind].toSorted()]))).toEqual(
    Object.fromEntries(Object.entries(known).map(([name, choices]) => [name, [...choices].toSorted()])),
  )
})
