// Which topics are ingested: by rows that people write, and by the patterns of the configuration.

import { captureGlob, matchesTopicGlobs } from '../failure/topic-globs.ts'
import { looksInternal, type TopicMapping } from '../failure/topic-names.ts'

export const subscriptionModes = ['ingest', 'ignore'] as const
export const subscriptionStarts = ['earliest', 'latest', 'time'] as const
export const backlogs = ['manual', 'auto'] as const

export type Subscription = {
  id: string
  /** Null: every cluster. */
  cluster: string | null
  pattern: string
  mode: (typeof subscriptionModes)[number]
  /** The original topic where headers name none; may use the pattern's `*` as `$1`, `$2` … */
  original: string | null
  start: (typeof subscriptionStarts)[number]
  start_at: Date | null
  /** `manual`: records from before the subscription are sent only when somebody asks. */
  backlog: (typeof backlogs)[number]
  created_at: Date
  created_by: string
  reason: string | null
}

type Rule = Pick<Subscription, 'pattern' | 'mode' | 'cluster'>

/** `by`: the row that decides; null where the configuration does. */
export type TopicDecision<R extends Rule> = { readonly isIngested: boolean; readonly by: R | null }

/**
 * Tells of each topic whether it is ingested. A row with the exact name decides over rows with patterns, those over the
 * configuration; among equals `ignore` wins. No row makes a topic of the cluster itself a DLQ topic.
 */
export function topicDecider<R extends Rule>({
  rows,
  patterns,
  cluster,
}: {
  rows: readonly R[]
  patterns: readonly string[]
  cluster: string
}): (topic: string) => TopicDecision<R> {
  const here = rows.filter((row) => row.cluster === null || row.cluster === cluster)
  const exact = Map.groupBy(here, ({ pattern }) => pattern)
  const globs = here.filter(({ pattern }) => isGlob(pattern))
  return (topic) => {
    const matching = exact.get(topic) ?? globs.filter(({ pattern }) => captureGlob(pattern, topic) !== null)
    const by = matching.find(({ mode }) => mode === 'ignore') ?? matching[0] ?? null
    if (by === null) return { isIngested: matchesTopicGlobs(patterns, topic), by }
    return { isIngested: by.mode === 'ingest' && !looksInternal(topic), by }
  }
}

export function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern)
}

/** The mappings of rows that name an original topic: exact names first. They stand before those of the configuration. */
export function mappingsOf(rows: readonly Pick<Subscription, 'pattern' | 'mode' | 'original'>[]): TopicMapping[] {
  const named = rows.flatMap(({ pattern, mode, original }) =>
    mode === 'ingest' && original !== null ? [{ dlq: pattern, original }] : [],
  )
  return [...named.filter(({ dlq }) => !isGlob(dlq)), ...named.filter(({ dlq }) => isGlob(dlq))]
}

export type StartingLog = {
  partition: number
  log_start_offset: bigint
  log_end_offset: bigint
  /** The first offset whose record is not older than the subscription; null where there is none. */
  since_offset: bigint | null
  /** The same of `start_at`. */
  start_offset: bigint | null
}

/** Where the ingestion of a partition begins, and below which offset its records are the backlog; null: none is. */
export type StartingPlace = { partition: number; next_offset: bigint; manual_below: bigint | null }

/**
 * A partition whose first record is younger than the subscription belongs to a topic that was made after it, and has no
 * backlog. Of all others the backlog is what Kafka holds now: a timestamp in its middle proves nothing. `latest` begins
 * at the first record that is younger than the subscription, because no ingester may have looked since.
 */
export function startOf({ start, backlog }: Pick<Subscription, 'start' | 'backlog'>, log: StartingLog): StartingPlace {
  const { partition, log_start_offset: first, log_end_offset: end } = log
  const isNew = end === first ? end === 0n : log.since_offset === first
  const from = { earliest: first, latest: log.since_offset ?? end, time: log.start_offset ?? end }[start]
  return {
    partition,
    next_offset: isNew ? first : from,
    manual_below: isNew || backlog === 'auto' ? null : end,
  }
}
