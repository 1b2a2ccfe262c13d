// The settings of a policy in one place (the configuration, a row of dlq_policies), and which name that people
// write (initial_delay) is which name of the code (initialDelayMs).

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
  /** 0: no windows. */
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
  record: RetryPolicy['record']
  /** Empty: nothing. */
  scrub: readonly string[]
  delivery: RetryPolicy['delivery']
  /** 0: never. */
  refailure_threshold: number
  /** From 0 to 1. */
  refailure_share: number
  refailure_window: number
  staleness: RetryPolicy['staleness']
  for_group_header: boolean
  /** Empty: all groups that read the topic. */
  verdict_group: string
  /** 0: as the configuration says. */
  verdict_horizon: number
  /** 0: never. */
  auto_resolve: number
  retention: number
}

export type SettingName = keyof Setting

/** Settings as the configuration and the rows have them. Null or absent: this place does not set them. */
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
  record: 'record',
  scrub: 'scrub',
  delivery: 'delivery',
  refailure_threshold: 'refailureThreshold',
  refailure_share: 'refailureShare',
  refailure_window: 'refailureWindowMs',
  staleness: 'staleness',
  for_group_header: 'forGroupHeader',
  verdict_group: 'verdictGroup',
  verdict_horizon: 'verdictHorizonMs',
  auto_resolve: 'autoResolveMs',
  retention: 'retentionMs',
}

export const settingNames = Object.keys(fieldOfSetting) as SettingName[]

/** The value that means "none", to undo a setting of a wider pattern or of the configuration. */
const saysNone: { readonly [Name in SettingName]?: Setting[Name] } = {
  run_every: 0,
  redirect_topic: '',
  refailure_threshold: 0,
  verdict_group: '',
  verdict_horizon: 0,
  auto_resolve: 0,
}

/** Only the fields that these settings set. */
export function fieldsOf(settings: PolicySettings): Partial<RetryPolicy> {
  const said = settingNames.flatMap((name) => {
    const value = settings[name]
    if (value === null || value === undefined) return []
    return [[fieldOfSetting[name], value === saysNone[name] ? null : value]]
  })
  return Object.fromEntries(said) as Partial<RetryPolicy>
}
