// How a dead letter compares with the record that failed, in words, and what can be done about it.

import { listed, numberText, plural } from '../words.ts'

export type OriginFacts = {
  readonly state: 'same' | 'different' | 'mismatch' | 'unproved' | 'gone' | 'unreachable'
  readonly differs: readonly ('key' | 'value' | 'headers')[]
  readonly problem: string | null
}

export type ComparedMessage = {
  readonly status: string
  readonly edits: number
  readonly archived_at: string | null
  readonly record_source: 'dlq' | 'origin'
  readonly dlq: unknown
  readonly origin_state: string | null
}

export function originWords({ state, differs, problem }: OriginFacts): string {
  switch (state) {
    case 'same':
      return 'The copy is the record that failed: key, value and headers are the same.'
    case 'different':
      return `The copy differs from the record that failed in its ${listed(differs)}.`
    case 'mismatch':
      return 'Another record stands at the original place now: it is not the one that failed.'
    case 'unproved':
      return differs.length === 0
        ? 'A record stands at the original place, and nothing proves that it is the one that failed.'
        : `A record stands at the original place, with another ${listed(differs)}; nothing proves that it is the one that failed.`
    case 'gone':
      return 'The record that failed is gone: Kafka has none at its place any more, or the place is not known.'
    case 'unreachable':
      return `The record that failed could not be read${problem === null ? '' : `: ${problem}`}.`
  }
}

const foundStates: Readonly<Record<string, (count: number) => string>> = {
  different: (count) => plural(count, 'differs', 'differ'),
  value_lost: (count) => `${plural(count, 'has', 'have')} lost ${plural(count, 'its value', 'their values')}`,
  unproved: (count) => `${plural(count, 'is', 'are')} not proved`,
  same: (count) => `${plural(count, 'is', 'are')} the same`,
  mismatch: (count) => `${plural(count, 'has', 'have')} another record at the place`,
  gone: (count) => `${plural(count, 'is', 'are')} gone from Kafka`,
  unreachable: () => 'could not be read',
  wanted: (count) => `${plural(count, 'is', 'are')} looked for again`,
}

/** "Of 343 compared, 40 differ and 303 are the same." What matters most first; null before the first is compared. */
export function foundWords(origins: Readonly<Record<string, number>> | null | undefined): string | null {
  const counts = Object.entries(origins ?? {}).filter(([, count]) => count > 0)
  if (counts.length === 0) return null
  const order = Object.keys(foundStates)
  const parts = counts
    .toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([state, count]) => `${numberText(count)} ${foundStates[state]?.(count) ?? state.replaceAll('_', ' ')}`)
  return `Of ${numberText(counts.reduce((sum, [, count]) => sum + count, 0))} compared, ${listed(parts)}.`
}

/** What the message itself says before anything was read, or beside it. */
export function originStateWords(state: string | null): string | null {
  if (state === 'value_lost')
    return 'The copy has lost its value; the record that failed has one. It is not sent by itself.'
  if (state === 'wanted') return 'The record that failed could not be read yet, and is looked for again.'
  return null
}

/** Null where it can be compared. */
export function whyNotCompared(message: ComparedMessage): string | null {
  if (message.dlq === null) return 'it did not come from a DLQ topic, so it has no original'
  if (message.archived_at !== null) return 'it is archived: restore it first'
  if (message.edits > 0)
    return message.record_source === 'origin' ? 'it has taken its original' : 'it was edited, which ends all comparing'
  return message.status === 'RETRYING' ? 'it is being sent: compare it once that is settled' : null
}

/** Whether the record that was found can take the place of the copy. */
export function canAdopt({ state }: OriginFacts, message: ComparedMessage): boolean {
  const differs = state === 'different' || state === 'unproved'
  return differs && whyNotCompared(message) === null && message.status !== 'RESOLVED'
}
