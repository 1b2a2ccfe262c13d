// A topic that somebody on call has paused, as the API shows it.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import type { Pausable, TopicPause } from 'dlq-core/queries/retry/topic-pauses.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import * as v from 'valibot'
import { shownText } from '../masks/shown.ts'
import type { Sight } from '../masks/sight.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'

export const topicPauseSchema = v.pipe(
  v.strictObject({
    by: v.string(),
    reason: v.string(),
    since: timestampText,
    until: v.pipe(v.nullable(timestampText), v.description('Null: until somebody resumes it.')),
  }),
  v.title('TopicPause'),
)

export const exampleTopicPause = {
  by: 'maria',
  reason: 'the card network is down',
  since: '2026-02-20T10:30:00.000+00:00',
  until: '2026-02-20T12:30:00.000+00:00',
}

export function topicPauseJson({ paused_by, reason, since, until }: TopicPause) {
  return { by: paused_by, reason, since: timestamp(since), until: until && timestamp(until) }
}

/** The same for an answer: whoever paused the topic may have written of its messages. */
export function shownPauseJson(pause: TopicPause, sight: Sight) {
  return { ...topicPauseJson(pause), reason: shownText(pause.reason, sight, 'anywhere') }
}

/** The pause of a topic among these. */
export function pauseOf(
  pauses: readonly TopicPause[],
  topic: string,
  { what, sight }: { what: Pausable; sight: Sight },
) {
  const pause = pauses.find((one) => one.topic === topic && one.what === what)
  return pause === undefined ? null : shownPauseJson(pause, sight)
}

/** "by maria until 12:30: the card network is down". Who may not see the topic is not told by whom and why. */
export function pausedWords(
  { topic, paused_by, reason, until }: TopicPause,
  { scope, sight }: { scope: TopicScope; sight: Sight },
): string {
  if (scope !== null && !matchesTopicGlobs(scope, topic)) return 'by somebody'
  return `by ${paused_by}${until === null ? '' : ` until ${until.toISOString()}`}: ${shownText(reason, sight, 'anywhere')}`
}
