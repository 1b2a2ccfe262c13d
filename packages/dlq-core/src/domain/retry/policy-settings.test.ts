import { expect, test } from 'vitest'
import { fieldOfSetting, fieldsOf, settingNames } from './policy-settings.ts'
import { defaultRetryPolicy } from './retry-policy.ts'

test('every field of a policy has a setting, and each its own', () => {
  expect(Object.values(fieldOfSetting).toSorted()).toEqual(Object.keys(defaultRetryPolicy).toSorted())
})

test('a setting that is null or absent is not set', () => {
  expect(fieldsOf({ auto_retry: null, max_retries: undefined, paused: false, max_delay: 0 })).toEqual({
    paused: false,
    maxDelayMs: 0,
  })
  expect(fieldsOf(Object.fromEntries(settingNames.map((name) => [name, null])))).toEqual({})
})

test('windows, a redirection and the pause after re-failures can be undone', () => {
  expect(fieldsOf({ run_every: 0, redirect_topic: '', refailure_threshold: 0 })).toEqual({
    runEveryMs: null,
    redirectTopic: null,
    refailureThreshold: null,
  })
})

test('an unknown setting is ignored', () => {
  const row = { pattern: '*', batch_size: 500, updated_at: new Date(), max_retries: 7 }
  expect(fieldsOf(row)).toEqual({ maxRetries: 7 })
})
