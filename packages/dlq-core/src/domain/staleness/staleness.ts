// Whether something newer than a dead letter stands behind it: a committed record of its key, in its original partition.
// A retry would then bring an older state after a newer one. infra/docs/verdicts.md says what can be known, and what not.

/** What a policy asks for: nothing, to be told, or that only what is fresh is sent. */
export const stalenessChoices = ['ignore', 'warn', 'hold'] as const

/**
 * `waiting`: not looked at yet. `fresh`: nothing newer was committed up to the offset that was read to. `superseded`:
 * something newer was. `unknown`: it cannot be told, with a reason.
 */
export const stalenessAnswers = ['waiting', 'fresh', 'superseded', 'unknown'] as const
export type StalenessAnswer = (typeof stalenessAnswers)[number]

const reasonWords = {
  no_key: 'its record has no key',
  no_place: 'its original partition and offset are not known',
  beyond_bound: 'more was written since than staleness.max_bytes lets a retrier read',
  retention: 'Kafka has deleted a part of what was written since',
  undecodable: 'a part of what was written since cannot be decoded',
  repartitioned: 'the topic has other partitions now, and records of its key may stand in another one',
  recreated: 'its original topic was deleted, or made anew',
  not_allowed: 'the retrier may not read its original topic (it needs the ACL Read)',
} as const

export type StalenessReason = keyof typeof reasonWords
export const stalenessReasons = Object.keys(reasonWords) as StalenessReason[]

export type Judgement = {
  answer: StalenessAnswer
  reason: StalenessReason | null
  /** Of the newer record; null where compaction has taken the message's own. */
  newer_offset: bigint | null
}

/** "a newer record of this key stands at offset 7"; null where nothing speaks against a retry. */
export function stalenessWords({ answer, reason, newer_offset }: Judgement): string | null {
  if (answer === 'fresh') return null
  if (answer === 'waiting') return 'no retrier has looked yet whether a newer record of this key was written'
  if (answer === 'unknown')
    return `whether a newer record of this key was written cannot be told: ${reasonWords[reason ?? 'not_allowed']}`
  return newer_offset === null
    ? 'a newer record of this key was written: compaction has taken this one away'
    : `a newer record of this key was written (offset ${newer_offset})`
}
