// The policy that somebody types: each setting as text, where nothing means that it is not said here.

import { parseDuration } from 'dlq-core/domain/retry/duration.ts'
import { type SettingName, settingNames } from 'dlq-core/domain/retry/policy-settings.ts'
import { type SettingValue, settingWords } from './setting-words.ts'

export type PolicyTexts = Readonly<Partial<Record<SettingName, string>>>
export type SaidSettings = Readonly<Partial<Record<SettingName, SettingValue>>>

/** Typed where the answer is "no other topic", "no one group", or "nothing": it is no legal name of a topic. */
export const noTopic = '(none)'

export function textsOf(policy: SaidSettings): PolicyTexts {
  const texts: Partial<Record<SettingName, string>> = {}
  for (const name of settingNames) {
    const value = policy[name]
    if (value === null || value === undefined) continue
    const isNone = value === '' || (Array.isArray(value) && value.length === 0)
    texts[name] = isNone ? noTopic : Array.isArray(value) ? value.join(', ') : String(value)
  }
  return texts
}

/** What is typed, above what somebody else has saved meanwhile: only what was not touched here becomes theirs. */
export function rebased(typed: PolicyTexts, before: PolicyTexts, after: PolicyTexts): PolicyTexts {
  const touched = settingNames.filter((name) => (typed[name] ?? '') !== (before[name] ?? ''))
  return { ...after, ...Object.fromEntries(touched.map((name) => [name, typed[name] ?? ''])) }
}

export type ReadForm = { readonly said: SaidSettings; readonly faults: Readonly<Partial<Record<SettingName, string>>> }

/** What PUT is sent. Bounds are the API's: its answer names the field. */
export function readForm(texts: PolicyTexts): ReadForm {
  const said: Partial<Record<SettingName, SettingValue>> = {}
  const faults: Partial<Record<SettingName, string>> = {}
  for (const name of settingNames) {
    const text = texts[name]?.trim() ?? ''
    if (text === '') continue
    const value = readValue(name, text)
    if (value === undefined) faults[name] = faultOf(name)
    else said[name] = value
  }
  if (said.backoff === 'list' && said.backoff_list === undefined)
    faults.backoff_list ??= 'The waits by a list need the list in the same policy.'
  return { said, faults }
}

/** Undefined where the text is none. */
function readValue(name: SettingName, text: string): SettingValue | undefined {
  const { kind } = settingWords[name]
  if (typeof kind !== 'string') return kind.includes(text) ? text : undefined
  switch (kind) {
    case 'switch':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'whole':
      return /^\d+$/.test(text) ? Number(text) : undefined
    case 'decimal':
      return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
    case 'duration':
      return isDuration(text) ? text : undefined
    case 'durations': {
      const list = text.split(/\s*,\s*/)
      return list.every(isDuration) ? list : undefined
    }
    case 'detectors':
      // A pattern may hold a comma, without a space behind it.
      return text === noTopic ? [] : text.split(/,\s+/)
    case 'topic':
      // Which names may stand in braces is the API's.
      return text === noTopic ? '' : /^[A-Za-z0-9._{}-]{1,249}$/.test(text) ? text : undefined
    case 'group':
      return text === noTopic ? '' : text
    default:
      return undefined
  }
}

/** Digits alone would be milliseconds, which nobody means here. */
function isDuration(text: string): boolean {
  return !/^[1-9]\d*$/.test(text) && parseDuration(text) !== null
}

function faultOf(name: SettingName): string {
  switch (settingWords[name].kind) {
    case 'whole':
      return 'Write a whole number.'
    case 'decimal':
      return 'Write a number such as 4 or 0.5.'
    case 'duration':
      return 'Write a length of time such as 30s, 5m or 1h30m.'
    case 'durations':
      return 'Write lengths of time with commas, such as 1m, 10m, 1h.'
    case 'topic':
      return `Write a topic’s name: letters, digits, ".", "_" and "-", and {topic} or {group}; or ${noTopic}.`
    default:
      return 'This is none of the choices.'
  }
}

/** Settings whose change wants a second look, each with what follows from it. */
export function consequences(pattern: string, before: SaidSettings, after: SaidSettings): string[] {
  const changed = (name: SettingName) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null)
  const shorter =
    changed('retention') &&
    after.retention !== undefined &&
    (before.retention === undefined ||
      (parseDuration(String(after.retention)) ?? 0) < (parseDuration(String(before.retention)) ?? 0))
  return [
    ...(pattern === '*' && changed('paused') && after.paused === true
      ? ['Every topic stops: nothing is sent any more, even if somebody asks.']
      : []),
    ...(changed('delivery')
      ? [
          after.delivery === 'pull'
            ? 'Retriers leave these messages alone from now on. If no application claims them, nobody sends them.'
            : 'Retriers send these messages from now on. An application that still claims them competes with that.',
        ]
      : []),
    ...(changed('payload')
      ? [
          'What is searched in values changes: derived payloads are not stored, and are found only within a bounded search.',
        ]
      : []),
    ...(shorter ? ['What is sent or DEAD goes to the archive sooner, at the next night already.'] : []),
  ]
}
