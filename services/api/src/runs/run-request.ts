// The schema of a request for a run.

import { canBeForced, canPatch, isSent } from 'dlq-core/domain/message/run.ts'
import { runKinds } from 'dlq-core/domain/message/run-kinds.ts'
import { jsonPatchSchema } from 'dlq-core/domain/record/json-patch.ts'
import { parseDuration } from 'dlq-core/domain/retry/duration.ts'
import { targetTemplate } from 'dlq-core/domain/retry/fill-target.ts'
import { share } from 'dlq-core/runtime/config/config-values.ts'
import * as v from 'valibot'
import { reason } from '../request/request-schemas.ts'
import { selectionSchema } from './run-selection.ts'

const duration = v.pipe(
  v.string('must be a time such as "60s"'),
  v.check(
    (text) => (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= 86_400_000,
    'must be a time such as "60s", at most a day',
  ),
  v.transform((text) => parseDuration(text)!),
)

export const rateSchema = v.pipe(
  v.number('must be a number'),
  v.minValue(0.0001, 'must be from 0.0001 to 1000000'),
  v.maxValue(1_000_000, 'must be from 0.0001 to 1000000'),
)

const count = (what: string) =>
  v.pipe(
    v.number(`${what} must be a number`),
    v.integer('must be a whole number'),
    v.minValue(0, 'must not be negative'),
  )

const goesWithSending = 'goes with kind "retry" or "redirect"'

/** First a few, then a share, then all; each step only where the messages before it did not fail again. */
const canarySchema = v.pipe(
  v.strictObject({
    first: v.optional(
      v.pipe(count('first'), v.minValue(1, 'must be at least 1'), v.maxValue(10_000, 'must be at most 10000')),
      1,
    ),
    // biome-ignore lint/suspicious/noThenProperty: the name that people write; nobody awaits it
    then: v.optional(share, 0.01),
    wait: v.optional(duration, '60s'),
    max_refailure: v.optional(share, 0.05),
  }),
  v.transform(({ first, then: share, wait, max_refailure }) => ({
    first,
    share,
    waitMs: wait,
    maxRefailure: max_refailure,
  })),
)

export const runBody = v.pipe(
  v.strictObject({
    kind: v.picklist(runKinds, `must be one of ${runKinds.join(', ')}`),
    selection: selectionSchema,
    all: v.optional(v.boolean('must be true or false'), false),
    expect_count: v.optional(count('expect_count')),
    expect_tolerance: v.optional(share, 0),
    rate_per_second: v.optional(v.nullable(rateSchema), null),
    canary: v.optional(v.nullable(canarySchema), null),
    on_refailure: v.optional(
      v.picklist(['continue', 'pause', 'cancel'], 'must be continue, pause or cancel'),
      'continue',
    ),
    max_refailure: v.optional(share, 0.05),
    max_lag: v.optional(
      v.nullable(
        v.pipe(
          count('max_lag'),
          v.description(
            'With kind retry or redirect: nothing more is sent to a topic while a consumer group that failed there has more records than this to read.',
          ),
        ),
      ),
      null,
    ),
    staleness: v.optional(
      v.pipe(
        v.picklist(['send'], 'must be "send"'),
        v.description(
          'With kind retry or redirect: also sends what a policy with "staleness": "hold" would hold, because it is superseded or not known to be fresh.',
        ),
      ),
    ),
    target_topic: v.optional(
      v.nullable(
        v.pipe(
          v.string('must be text'),
          v.minLength(1, 'must not be empty'),
          v.maxLength(249, 'must be at most 249 characters'),
          v.regex(targetTemplate, 'must be a topic name, which may hold {topic} and {group}'),
          v.description('May hold `{topic}` and `{group}`: the original topic and the consumer group of each message.'),
        ),
      ),
      null,
    ),
    patch: v.optional(
      v.pipe(
        jsonPatchSchema,
        v.description(
          'With kind retry or redirect, each message is changed as it is taken, so a canary tries the change.',
        ),
      ),
    ),
    force: v.optional(
      v.pipe(
        v.boolean('must be true or false'),
        v.description('With kind retry or redirect: sends DEAD messages too, whatever their budget. Needs a reason.'),
      ),
      false,
    ),
    mode: v.optional(
      v.pipe(
        v.picklist(['contents', 'rows'], 'must be contents or rows'),
        v.description('Of a run that erases: the messages stay as empty rows, or are deleted.'),
      ),
    ),
    adopt: v.optional(
      v.pipe(
        v.boolean('must be true or false'),
        v.description(
          'With kind origin: an original that is proved and differs takes the place of its copy, as an edit.',
        ),
      ),
      false,
    ),
    reason,
    dry_run: v.optional(v.boolean('must be true or false'), false),
  }),
  v.forward(
    v.check(
      ({ kind, target_topic }) => (kind === 'redirect') === (target_topic !== null),
      'belongs to kind "redirect", and only to it',
    ),
    ['target_topic'],
  ),
  v.forward(
    v.check(
      ({ kind, patch }) => (patch === undefined ? kind !== 'edit' : canPatch(kind)),
      'belongs to kind "edit", and may go with "retry" and "redirect"',
    ),
    ['patch'],
  ),
  v.forward(
    v.check(({ kind, adopt }) => kind === 'origin' || !adopt, 'belongs to kind "origin"'),
    ['adopt'],
  ),
  v.forward(
    v.check(({ kind, mode }) => kind === 'erase' || mode === undefined, 'belongs to kind "erase"'),
    ['mode'],
  ),
  v.forward(
    v.check(({ kind, reason }) => kind !== 'erase' || Boolean(reason?.trim()), 'is required with kind "erase"'),
    ['reason'],
  ),
  v.forward(
    v.check(
      ({ kind, expect_count, dry_run }) => kind !== 'erase' || dry_run || expect_count !== undefined,
      'is required with kind "erase": a dry run says how many match',
    ),
    ['expect_count'],
  ),
  v.forward(
    v.check(({ kind, selection }) => kind === 'erase' || selection.keys === undefined, 'belong to kind "erase"'),
    ['selection', 'keys'],
  ),
  // Ignored, each would reach more than was meant: all messages instead of a canary's, at once instead of one a second.
  v.forward(
    v.check(({ kind, rate_per_second }) => rate_per_second === null || isSent(kind), goesWithSending),
    ['rate_per_second'],
  ),
  v.forward(
    v.check(({ kind, canary }) => canary === null || isSent(kind), goesWithSending),
    ['canary'],
  ),
  v.forward(
    v.check(({ kind, on_refailure }) => on_refailure === 'continue' || isSent(kind), goesWithSending),
    ['on_refailure'],
  ),
  v.forward(
    v.check(({ kind, max_lag }) => max_lag === null || isSent(kind), goesWithSending),
    ['max_lag'],
  ),
  v.forward(
    v.check(({ kind, staleness }) => staleness === undefined || isSent(kind), goesWithSending),
    ['staleness'],
  ),
  v.forward(
    v.check(({ kind, force }) => !force || canBeForced(kind), goesWithSending),
    ['force'],
  ),
  v.forward(
    v.check(({ force, reason }) => !force || Boolean(reason?.trim()), 'is required with force'),
    ['reason'],
  ),
)
