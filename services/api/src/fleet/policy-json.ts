// The policy in force for a topic, setting by setting, each with its origin.

import { formatDuration } from 'dlq-core/domain/retry/duration.ts'
import type { EffectivePolicy } from 'dlq-core/domain/retry/effective-policy.ts'
import {
  fieldOfSetting,
  type PolicySettings,
  type SettingName,
  settingNames,
} from 'dlq-core/domain/retry/policy-settings.ts'
import * as v from 'valibot'
import { invalidField } from '../http/api-error.ts'

export const settingValueSchema = v.union([v.null(), v.boolean(), v.number(), v.string(), v.array(v.string())])

export const effectivePolicySchema = v.pipe(
  v.record(
    v.picklist(settingNames),
    v.strictObject({
      value: settingValueSchema,
      source: v.pipe(
        v.picklist(['default', 'config', 'policy']),
        v.description('The built-in defaults, the configuration, or the row of dlq_policies with this pattern.'),
      ),
      pattern: v.nullable(v.string()),
    }),
  ),
  v.title('EffectivePolicy'),
)

const durations: ReadonlySet<SettingName> = new Set([
  'initial_delay',
  'max_delay',
  'run_every',
  'refailure_window',
  'verdict_horizon',
  'auto_resolve',
  'retention',
])

export function effectivePolicyJson({ policy, origins }: EffectivePolicy) {
  return Object.fromEntries(
    settingNames.map((name) => {
      const field = fieldOfSetting[name]
      return [name, { value: shownSetting(name, policy[field]), ...origins[field] }]
    }),
  )
}

/** A setting as the configuration writes it, with durations as text. Null where it is not set. */
export function shownSetting(name: SettingName, value: unknown) {
  if (value === null || value === undefined) return null
  if (name === 'scrub') return value as string[]
  if (name === 'backoff_list') return (value as number[]).map(formatDuration)
  return durations.has(name) ? formatDuration(value as number) : (value as string | number | boolean)
}

/**
 * In the environment every value is text, and the schema takes it so. A body has numbers, booleans and lists themselves.
 * @throws {ApiError} 400
 */
export function refuseQuoted(settings: PolicySettings, jsonOf: (name: SettingName) => string): void {
  for (const name of settingNames) {
    const value = shownSetting(name, settings[name])
    // A share may be "5%".
    if (value === null || typeof value === 'string' || name === 'refailure_share') continue
    if (jsonOf(name).startsWith('"')) throw invalidField(name, `must be ${JSON.stringify(value)}, and not a text`)
  }
}

/** An example in which a policy changes one setting. */
export const exampleEffectivePolicy = Object.fromEntries(
  settingNames.map((name) => [
    name,
    name === 'max_retries'
      ? { value: 5, source: 'policy', pattern: 'orders.*' }
      : { value: null, source: 'default', pattern: null },
  ]),
)
