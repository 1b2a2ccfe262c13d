// What one place (the configuration, a row of dlq_policies) says about a policy, and how the names that
// people write (initial_delay) and the names of the code (initialDelayMs) belong together.

import type { RetryPolicy } from './retry-policy.ts'

type Setting = {
  auto_retry: boolean
  max_retries: number
  backoff: RetryPolicy['backoff']
  /** Durations are milliseconds, here and below. */
  initial_delay: number
  multiplier: number
  max_delay: number
  backoff_list: readonly number[]
  /** 0: not in runs. */
  run_every: number
  run_limit: number
  rate_per_second: number
  max_in_flight: number
  paused: boolean
  /** Empty: to the original topic. */
  redirect_topic: string
  ordering: RetryPolicy['ordering']
  timestamp: RetryPolicy['timestamp']
  weight: number
  payload: RetryPolicy['payload']
  delivery: RetryPolicy['delivery']
  /** 0: never. */
  refailure_threshold: number
  refailure_window: number
  retention: number
}

export type SettingName = keyof Setting

/** As the configuration and the rows have it. Null or absent: not said here. */
export type PolicySettings = { readonly [Name in SettingName]?: Setting[Name] | null | undefined }

export type PolicyField = keyof RetryPolicy

export const fieldOfSetting: { readonly [Name in SettingName]: PolicyField } = {
  auto_retry: 'autoRetry',
  max_retries: 'maxRetries',
  backoff: 'backoff',
  initial_delay: 'initialDelayMs',
  multiplier: 'multiplier',
  max_delay: 'maxDelayMs',
  backoff_list: 'backoffListMs',
  run_every: 'runEveryMs',
  run_limit: 'runLimit',
  rate_per_second: 'ratePerSecond',
  max_in_flight: 'maxInFlight',
  paused: 'paused',
  redirect_topic: 'redirectTopic',
  ordering: 'ordering',
  timestamp: 'timestamp',
  weight: 'weight',
  payload: 'payload',
  delivery: 'delivery',
  refailure_threshold: 'refailureThreshold',
  refailure_window: 'refailureWindowMs',
  retention: 'retentionMs',
}

export const settingNames = Object.keys(fieldOfSetting) as SettingName[]

/** How a setting says "none", where a wider pattern or the configuration has set something. */
const saysNone: { readonly [Name in SettingName]?: Setting[Name] } = {
  run_every: 0,
  redirect_topic: '',
  refailure_threshold: 0,
}

/** The fields that the settings say something about, and no others. */
export function fieldsOf(settings: PolicySettings): Partial<RetryPolicy> {
  const said = settingNames.flatMap((name) => {
    const value = settings[name]
    if (value === null || value === undefined) return []
    return [[fieldOfSetting[name], value === saysNone[name] ? null : value]]
  })
  return Object.fromEntries(said) as Partial<RetryPolicy>
}
