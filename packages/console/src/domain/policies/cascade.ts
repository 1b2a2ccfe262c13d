// Which layer decides each setting of a topic, by the same code as the services.

import { formatDuration, parseDuration } from 'dlq-core/domain/retry/duration.ts'
import {
  compileLayers,
  compilePolicies,
  type MessageTopics,
  type PolicyLayers,
  type TopicPolicy,
} from 'dlq-core/domain/retry/effective-policy.ts'
import {
  fieldOfSetting,
  type PolicySettings,
  type SettingName,
  settingNames,
} from 'dlq-core/domain/retry/policy-settings.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { SaidSettings } from './policy-form.ts'
import { type SettingValue, settingWords } from './setting-words.ts'

export type ListedPolicies = {
  readonly policies: readonly (SaidSettings & { readonly pattern: string })[]
  readonly configured: readonly (SaidSettings & { readonly pattern: string | null })[]
}

/** Durations as milliseconds, as the domain has them. */
function settingsOf(said: SaidSettings): PolicySettings {
  const settings = settingNames.flatMap((name): [string, unknown][] => {
    const value = said[name]
    return value === null || value === undefined ? [] : [[name, ownValue(name, value)]]
  })
  return Object.fromEntries(settings) as PolicySettings
}

function ownValue(name: SettingName, value: SettingValue): unknown {
  const { kind } = settingWords[name]
  if (kind === 'durations') return (value as readonly string[]).map((text) => parseDuration(text) ?? 0)
  return kind === 'duration' ? (parseDuration(String(value)) ?? 0) : value
}

export function layersOf({ policies, configured }: ListedPolicies): PolicyLayers {
  const section = configured.find(({ pattern }) => pattern === null)
  return {
    section: section === undefined ? {} : settingsOf(section),
    fileEntries: configured.flatMap(({ pattern, ...said }) =>
      pattern === null ? [] : [{ ...settingsOf(said), pattern }],
    ),
    rows: policies.map(({ pattern, ...said }) => ({ ...settingsOf(said), pattern })),
  }
}

/** The policy in force if `said` were the policy of `pattern`. */
export function policyWith(
  listed: ListedPolicies,
  { pattern, said }: { pattern: string; said: SaidSettings },
  topics: MessageTopics,
): RetryPolicy {
  const { rows, ...below } = layersOf(listed)
  const wanted: TopicPolicy = { ...settingsOf(said), pattern }
  return compilePolicies({ ...below, rows: [...rows.filter((row) => row.pattern !== pattern), wanted] })(topics).policy
}

export type CascadeColumn = { readonly source: 'default' | 'config' | 'policy'; readonly pattern: string | null }
export type CascadeRow = {
  readonly setting: SettingName
  /** Of each column; undefined where it does not say the setting. */
  readonly values: readonly (SettingValue | undefined)[]
  /** The column that decides. */
  readonly decides: number
}

export type Cascade = { readonly columns: readonly CascadeColumn[]; readonly rows: readonly CascadeRow[] }

/** From the weakest layer to the strongest, those that match the topics. */
export function cascadeOf(listed: ListedPolicies, topics: MessageTopics): Cascade {
  const layers = compileLayers(layersOf(listed))(topics)
  return {
    columns: layers.map(({ origin }) => origin),
    rows: settingNames.map((setting) => {
      const field = fieldOfSetting[setting]
      const values = layers.map(({ fields }) => (field in fields ? shown(setting, fields[field]) : undefined))
      return { setting, values, decides: values.findLastIndex((value) => value !== undefined) }
    }),
  }
}

function shown(setting: SettingName, value: unknown): SettingValue {
  if (value === null || value === undefined) return null
  const { kind } = settingWords[setting]
  if (kind === 'durations') return (value as readonly number[]).map(formatDuration)
  return kind === 'duration' ? formatDuration(value as number) : (value as SettingValue)
}

/** The weakest first, as far as that does not depend on the topic: a more exact pattern wins. */
export function byExactness<T extends { readonly pattern: string }>(policies: readonly T[]): T[] {
  return policies.toSorted(({ pattern: a }, { pattern: b }) => {
    const wildcards = wildcardsOf(b) - wildcardsOf(a)
    return wildcards !== 0 ? wildcards : a.length - b.length || (a < b ? 1 : -1)
  })
}

function wildcardsOf(pattern: string): number {
  return pattern.match(/[*?]/g)?.length ?? 0
}
