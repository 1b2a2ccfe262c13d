// The masks of topics: all entries of the configuration that match a message's topics, united. What one of them hides is
// hidden.

import { matchesTopicGlobs } from '../failure/topic-globs.ts'
import { hiddenMark } from './mask-json.ts'
import { compileMaskPaths, type PathState, parseMaskPath } from './mask-paths.ts'
import { createTextMask, type TextMask } from './mask-text.ts'
import { createKeySeal, type KeySeal } from './seal-key.ts'

export const keyMasks = ['show', 'hide', 'pseudonym'] as const
export type KeyMask = (typeof keyMasks)[number]

/** An entry of `masks`. The pointers and detectors are valid. */
export type MaskEntry = {
  readonly topics: readonly string[]
  readonly hide?: readonly string[] | undefined
  readonly show?: readonly string[] | undefined
  readonly key: KeyMask
  /** Globs of names, in any case. */
  readonly headers: readonly string[]
  /** Names of detectors, and patterns. */
  readonly errors: readonly string[]
}

/** What is hidden of a message. Null: nothing of that part. */
export type Mask = {
  readonly paths: PathState | null
  readonly key: KeyMask
  readonly hidesHeader: ((name: string) => boolean) | null
  readonly text: TextMask | null
}

/** Whether it shows no key, or only its pseudonym. `mask`: null where nothing is masked. */
export function hidesKey(mask: Mask | null): boolean {
  return mask !== null && mask.key !== 'show'
}

export type MaskedTopics = { readonly original_topic: string | null; readonly dlq_topic: string | null }

export type Masks = {
  /** Null: nothing is hidden. */
  maskOf(topics: MaskedTopics): Mask | null
  /** What is hidden of a message of any topic. */
  readonly anywhere: Mask
  /** Makes and opens pseudonyms; null without a secret. */
  readonly seal: KeySeal | null
}

/** For who sees no content at all. */
export const hidesAll: Mask = {
  paths: compileMaskPaths({ hide: [parseMaskPath('')!], shows: [] }),
  key: 'hide',
  hidesHeader: () => true,
  text: () => hiddenMark,
}

/** Kafka has no more topics than this on one cluster; rows that SQL wrote may name any. */
const maxKnownPairs = 100_000

/** Null without entries. */
export function createMasks(entries: readonly MaskEntry[], secret: string | undefined): Masks | null {
  if (entries.length === 0) return null
  const byEntries = new Map<string, Mask | null>()
  const byTopics = new Map<string, Mask | null>()
  return {
    maskOf({ original_topic, dlq_topic }) {
      const pair = `${original_topic ?? ''}\n${dlq_topic ?? ''}`
      const known = byTopics.get(pair)
      if (known !== undefined) return known
      const matching = entries.filter(({ topics }) =>
        [original_topic, dlq_topic].some((topic) => topic !== null && matchesTopicGlobs(topics, topic)),
      )
      const key = matching.map((entry) => entries.indexOf(entry)).join()
      const mask = byEntries.has(key) ? byEntries.get(key)! : matching.length === 0 ? null : unite(matching)
      byEntries.set(key, mask)
      if (byTopics.size >= maxKnownPairs) byTopics.clear()
      byTopics.set(pair, mask)
      return mask
    },
    anywhere: unite(entries),
    seal: secret === undefined ? null : createKeySeal(secret),
  }
}

function unite(entries: readonly MaskEntry[]): Mask {
  const parse = (pointers: readonly string[]) => pointers.map((pointer) => parseMaskPath(pointer)!)
  const hide = parse(entries.flatMap((entry) => entry.hide ?? []))
  const shows = entries.flatMap((entry) => (entry.show === undefined ? [] : [parse(entry.show)]))
  const headers = entries.flatMap((entry) => entry.headers).map((glob) => glob.toLowerCase())
  return {
    paths: hide.length + shows.length === 0 ? null : compileMaskPaths({ hide, shows }),
    key: (['hide', 'pseudonym'] as const).find((key) => entries.some((entry) => entry.key === key)) ?? 'show',
    hidesHeader: headers.length === 0 ? null : (name) => matchesTopicGlobs(headers, name.toLowerCase()),
    text: createTextMask(entries.flatMap((entry) => entry.errors)),
  }
}
