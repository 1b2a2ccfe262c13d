// An attempt as the API shows it.

import { listedChars } from 'dlq-core/domain/message/listed-text.ts'
import { verdicts } from 'dlq-core/queries/readers/verdicts.ts'
import type { Attempt } from 'dlq-core/queries/retry/attempts.ts'
import * as v from 'valibot'
import { hiddenEntries, hiddenOf, type Shown } from '../masks/shown.ts'
import { count } from './message-json.ts'
import { timestamp, timestampText } from './timestamp.ts'

const verdictSchema = v.picklist(verdicts)

const beginning = v.pipe(v.nullable(v.string()), v.description(`The first ${listedChars} characters.`))

const place = { topic: v.string(), partition: v.nullable(count), offset: v.nullable(v.string()) }

export const attemptEntries = {
  ...hiddenEntries,
  number: count,
  attempt_id: v.pipe(v.string(), v.uuid()),
  actor: v.string(),
  run_id: v.nullable(v.string()),
  outcome: v.pipe(
    v.picklist(['requested', 'published', 'resolved', 'failed', 'unknown']),
    v.description(
      '`unknown`: it is not known whether the record was published; the attempt is repeated under the same id. `resolved`: the application handled the message itself.',
    ),
  ),
  error: beginning,
  target: v.nullable(v.strictObject(place)),
  started_at: timestampText,
  settled_at: v.nullable(timestampText),
  unknown_at: v.pipe(
    v.nullable(timestampText),
    v.description('When the outcome became unknown: Kafka may hold a second record of this attempt.'),
  ),
  failed_again: v.pipe(
    v.nullable(
      v.strictObject({
        at: timestampText,
        topic: v.nullable(v.string()),
        partition: v.nullable(count),
        offset: v.nullable(v.string()),
        error_class: v.nullable(v.string()),
        error_message: beginning,
        error_changed: v.nullable(v.boolean()),
      }),
    ),
    v.description('The dead letter that the consumer wrote when the retried record failed again.'),
  ),
  verdict: v.pipe(
    v.nullable(verdictSchema),
    v.description(
      'What is known of the published record. `sent`: its consumer group has not read it. `passed`: read, and it may still come back. `consumed`: read, and nothing came back. `confirmed`: the consumer said that its work is done. `skipped`: the group’s offset was moved past it. `expired`: Kafka deleted it before it was read. None but `confirmed` says that the work succeeded.',
    ),
  ),
  verdict_reason: v.pipe(
    v.nullable(v.string()),
    v.description(
      'Why it is `unknown`: no_place, no_group, group_gone, share_group, no_commits, not_allowed or new_topic.',
    ),
  ),
  judged_by: v.pipe(v.nullable(v.string()), v.description('The consumer groups whose offsets say so.')),
  read_at: v.nullable(timestampText),
  horizon_until: v.pipe(v.nullable(timestampText), v.description('Until then it may come back.')),
  confirmed: v.pipe(
    v.nullable(v.strictObject({ at: timestampText, by: v.nullable(v.string()) })),
    v.description('When the consumer said that its work is done.'),
  ),
}

export const attemptSchema = v.pipe(v.strictObject(attemptEntries), v.title('Attempt'))

export const exampleAttempt = {
  number: 1,
  attempt_id: '0c1d2e3f-4a5b-8c6d-9e7f-001122334455',
  actor: 'auto',
  run_id: null,
  outcome: 'published',
  error: null,
  target: { topic: 'orders.events.v1', partition: 3, offset: '90311' },
  started_at: '2026-02-20T10:35:00.000+00:00',
  settled_at: '2026-02-20T10:35:00.120+00:00',
  unknown_at: null,
  failed_again: null,
  verdict: 'passed' as const,
  verdict_reason: null,
  judged_by: 'billing',
  read_at: '2026-02-20T10:35:09.000+00:00',
  horizon_until: '2026-02-20T10:37:39.000+00:00',
  confirmed: null,
}

export function attemptJson(attempt: Shown<Attempt>) {
  const { target_topic: topic, target_partition: partition, target_offset: offset } = attempt
  return {
    number: attempt.number,
    attempt_id: attempt.attempt_id,
    actor: attempt.actor,
    run_id: attempt.run_id,
    outcome: attempt.outcome,
    error: attempt.error,
    target: topic === null ? null : { topic, partition, offset: offset === null ? null : String(offset) },
    started_at: timestamp(attempt.started_at),
    settled_at: attempt.settled_at && timestamp(attempt.settled_at),
    unknown_at: attempt.unknown_at && timestamp(attempt.unknown_at),
    failed_again: attempt.failed_again_at && {
      at: timestamp(attempt.failed_again_at),
      topic: attempt.failed_again_topic,
      partition: attempt.failed_again_partition,
      offset: attempt.failed_again_offset === null ? null : String(attempt.failed_again_offset),
      error_class: attempt.failed_again_class,
      error_message: attempt.failed_again_message,
      error_changed: attempt.error_changed,
    },
    verdict: attempt.verdict,
    verdict_reason: attempt.verdict_reason,
    judged_by: attempt.judged_by,
    read_at: attempt.read_at && timestamp(attempt.read_at),
    horizon_until: attempt.horizon_until && timestamp(attempt.horizon_until),
    confirmed: attempt.confirmed_at && { at: timestamp(attempt.confirmed_at), by: attempt.confirmed_by },
    ...hiddenOf(attempt),
  }
}
