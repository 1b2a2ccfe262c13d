// A pause of an error group's automatic retries, as the API shows it.

import type { ShownPause } from 'dlq-core/queries/groups/group-pauses.ts'
import * as v from 'valibot'
import type { Shown } from '../masks/shown.ts'
import { count } from '../messages/message-json.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'

export const groupPauseSchema = v.pipe(
  v.strictObject({
    original_topic: v.string(),
    reason: v.string(),
    since: timestampText,
    next_probe_at: v.pipe(v.nullable(timestampText), v.description('When messages are tried; null while some are.')),
    failed_probes: count,
  }),
  v.title('GroupPause'),
)

export const exampleGroupPause = {
  original_topic: 'orders',
  reason: '25 of 30 retries failed again within 5m',
  since: '2026-02-20T10:30:00.000+00:00',
  next_probe_at: '2026-02-20T10:30:30.000+00:00',
  failed_probes: 0,
}

export function groupPauseJson({ original_topic, reason, paused_at, next_probe_at, failed_probes }: Shown<ShownPause>) {
  return {
    ...{ original_topic, reason, failed_probes },
    since: timestamp(paused_at),
    next_probe_at: next_probe_at && timestamp(next_probe_at),
  }
}
