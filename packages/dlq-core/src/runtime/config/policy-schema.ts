// The schema of a policy's settings, for config.yaml and the API's bodies. The checks of dlq_policies
// (db/dlq/migrations/007) have the same bounds, for people who write SQL.

import * as v from 'valibot'
import { targetTemplate } from '../../domain/retry/fill-target.ts'
import type { PolicySettings, SettingName } from '../../domain/retry/policy-settings.ts'
import {
  backoffs,
  deliveries,
  orderings,
  payloadChoices,
  recordChoices,
  timestampChoices,
} from '../../domain/retry/retry-policy.ts'
import { stalenessChoices } from '../../domain/staleness/staleness.ts'
import {
  anyDuration,
  anyLength,
  boolean,
  decades,
  decimal,
  integer,
  longDuration,
  longDurationOrNone,
  share,
} from './config-values.ts'
import { detectors } from './masks-schema.ts'

const maxDelayMs = 366 * 86_400_000
/** A group's offsets are kept for seven days after its last member has left. */
const maxHorizonMs = 7 * 86_400_000
const maxRetentionMs = 36_500 * 86_400_000

const delay = v.pipe(anyDuration, v.maxValue(maxDelayMs, 'must be at most 366d'))
const longDelay = v.pipe(longDuration, v.maxValue(maxDelayMs, 'must be at most 366d'))

function oneOf<const Choices extends readonly string[]>(choices: Choices) {
  return v.picklist(choices, `must be one of ${choices.join(', ')}`)
}

const delayList = v.pipe(
  v.union(
    [
      v.pipe(
        v.string(),
        v.transform((list): unknown[] => list.split(',')),
      ),
      v.array(v.unknown()),
    ],
    'must be a list of durations',
  ),
  v.metadata({ type: 'array', minItems: 1, maxItems: 1000, items: anyLength }),
  v.array(delay),
  v.minLength(1, 'must not be empty'),
  v.maxLength(1000, 'must not have more than 1000 entries'),
)

/** In the environment with commas. Empty: none, also where a wider pattern has some. */
const detectorList = v.union(
  [
    v.pipe(
      v.string(),
      v.transform((list) => list.split(',').flatMap((name) => name.trim() || [])),
      detectors,
    ),
    detectors,
  ],
  'must be a list of email, iban, card and patterns',
)

/** The settings that configuration files may have too. */
export const policyFieldSchemas = {
  auto_retry: v.nullish(boolean),
  max_retries: v.nullish(integer('a number of attempts', 1, 1000)),
  backoff: v.nullish(oneOf(backoffs)),
  initial_delay: v.nullish(delay),
  multiplier: v.nullish(decimal('a factor', 1, 100)),
  max_delay: v.nullish(delay),
  backoff_list: v.nullish(delayList),
  run_every: v.nullish(
    v.pipe(
      longDurationOrNone,
      v.maxValue(maxDelayMs, 'must be at most 366d'),
      v.check((every) => every === 0 || every >= 1000, 'must be at least 1s, or 0 for none'),
    ),
  ),
  run_limit: v.nullish(integer('a number of messages', 1, 1_000_000)),
  rate_per_second: v.nullish(decimal('a number of messages per second', 0.0001, 1_000_000)),
  max_in_flight: v.nullish(integer('a number of messages', 1, 1_000_000)),
  paused: v.nullish(boolean),
  redirect_topic: v.nullish(
    v.pipe(
      v.string('must be text'),
      v.maxLength(249, 'must be at most 249 characters'),
      v.regex(targetTemplate, 'must be a topic name, which may hold {topic} and {group}, or empty for none'),
      // A record's headers say its group, and so whoever writes it.
      v.check(
        (template) => !template.split('{topic}')[0]!.includes('{group}'),
        'must have {topic} before {group}, or records would choose the topic that they are sent to',
      ),
    ),
  ),
  ordering: v.nullish(oneOf(orderings)),
  timestamp: v.nullish(oneOf(timestampChoices)),
  weight: v.nullish(integer('a weight', 1, 1000)),
  payload: v.nullish(oneOf(payloadChoices)),
  record: v.nullish(oneOf(recordChoices)),
  scrub: v.nullish(detectorList),
  refailure_threshold: v.nullish(integer('a number of failures', 0, 1_000_000)),
  refailure_share: v.nullish(share),
  refailure_window: v.nullish(v.pipe(longDelay, v.minValue(1000, 'must be at least 1s'))),
  staleness: v.nullish(oneOf(stalenessChoices)),
  for_group_header: v.nullish(boolean),
  verdict_group: v.nullish(
    v.pipe(v.string('must be text'), v.maxLength(249, 'must be the name of a consumer group, or empty for none')),
  ),
  verdict_horizon: v.nullish(
    v.pipe(
      longDurationOrNone,
      v.maxValue(maxHorizonMs, 'must be at most 7d'),
      v.check((horizon) => horizon === 0 || horizon >= 1000, 'must be at least 1s, or 0 for that of the configuration'),
    ),
  ),
  auto_resolve: v.nullish(
    v.pipe(
      longDurationOrNone,
      v.maxValue(maxDelayMs, 'must be at most 366d'),
      v.check((after) => after === 0 || after >= 1000, 'must be at least 1s, or 0 for never'),
    ),
  ),
  retention: v.nullish(v.pipe(decades, v.maxValue(maxRetentionMs, 'must be at most 36500d'))),
} satisfies Record<Exclude<SettingName, 'delivery'>, v.GenericSchema<unknown, unknown>>

const policyPattern = v.pipe(
  v.string('must be text'),
  v.regex(/^[\w.*?-]{1,249}$/, 'must be one topic glob: letters, digits, ".", "_", "-", and the wildcards "*" and "?"'),
)

/** Refuses the backoff "list" without a list: a wider pattern's list may be deleted later. */
export function requireBackoffList<Settings extends Pick<PolicySettings, 'backoff' | 'backoff_list'>>() {
  return v.rawCheck<Settings>(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.value.backoff !== 'list' || (dataset.value.backoff_list ?? null) !== null) return
    addIssue({
      message: 'missing; the backoff "list" needs it in the same place',
      path: [{ type: 'object', origin: 'value', input: { ...dataset.value }, key: 'backoff_list', value: undefined }],
    })
  })
}

function unknownKey(known: readonly string[]) {
  return v.never(`unknown key; known here: ${known.join(', ')}`)
}

/** `delivery` is for rows only: dlq.claim_messages() reads it, and the database does not know the files. */
const rowEntries = { ...policyFieldSchemas, delivery: v.nullish(oneOf(deliveries)) }

/** The settings for the topics of one pattern: the body of PUT /api/v1/policies/:pattern. */
export const policySettingsSchema = v.pipe(
  v.objectWithRest(rowEntries, unknownKey(Object.keys(rowEntries)), 'must be a policy with keys'),
  v.metadata({
    if: { properties: { backoff: { const: 'list' } }, required: ['backoff'] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's word
    then: { properties: { backoff_list: { type: 'array' } }, required: ['backoff_list'] },
  }),
  requireBackoffList(),
)

const entryEntries = {
  pattern: policyPattern,
  ...policyFieldSchemas,
  delivery: v.optional(v.never('must be set in a row of dlq_policies, where the database reads it')),
}

/** The list "policies" of config.yaml. */
export const policyListSchema = v.pipe(
  v.array(
    v.pipe(
      v.objectWithRest(entryEntries, unknownKey(Object.keys(entryEntries)), 'must be a policy with keys'),
      requireBackoffList(),
    ),
    'must be a list of policies, each with its pattern',
  ),
  v.check(
    (entries) => new Set(entries.map(({ pattern }) => pattern)).size === entries.length,
    'must not have two policies of the same pattern',
  ),
)
