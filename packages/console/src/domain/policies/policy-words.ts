// A policy in one line, and what it decides.

import { type SettingName, settingNames } from 'dlq-core/domain/retry/policy-settings.ts'
import { counted, numberText } from '../words.ts'
import type { SaidSettings } from './policy-form.ts'
import { settingWords, valueWords } from './setting-words.ts'

/** "Attempts 5, First wait 1m". */
export function saidWords(said: SaidSettings): string {
  const parts = settingNames.flatMap((name) => {
    const value = said[name]
    return value === undefined || value === null ? [] : [`${settingWords[name].label} ${valueWords(name, value)}`]
  })
  return parts.length === 0 ? 'says nothing' : parts.join(', ')
}

export type MatchFacts = {
  readonly original_topic: string
  readonly dlq_topic: string | null
  readonly pending: number
  readonly decides: readonly string[]
  readonly changes: readonly { readonly setting: SettingName; readonly before: unknown; readonly after: unknown }[]
}

/** "It matches 12 topics and decides something for 9 of them, where 340 messages wait." */
export function matchWords(matches: readonly MatchFacts[]): string {
  if (matches.length === 0) return 'It matches no topic that is known.'
  const deciding = matches.filter(({ decides }) => decides.length > 0)
  const waiting = deciding.reduce((total, { pending }) => total + pending, 0)
  const all = counted(matches.length, 'topic')
  if (deciding.length === 0) return `It matches ${all} and decides nothing: more exact patterns say the same settings.`
  const some =
    deciding.length === matches.length
      ? matches.length === 1
        ? 'it'
        : 'all of them'
      : `${numberText(deciding.length)} of them`
  return `It matches ${all} and decides something for ${some}, where ${counted(waiting, 'message waits', 'messages wait')}.`
}

/** What saving would do, for the button's neighbour. */
export function changeWords(matches: readonly MatchFacts[]): string {
  const changed = matches.filter(({ changes }) => changes.length > 0)
  if (matches.length === 0) return 'No topic that is known matches this pattern.'
  if (changed.length === 0) return 'Nothing would change for any topic that is known.'
  const waiting = changed.reduce((total, { pending }) => total + pending, 0)
  return `${counted(changed.length, 'topic changes', 'topics change')}; ${counted(waiting, 'message waits', 'messages wait')} there.`
}
