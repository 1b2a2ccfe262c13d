// Refuses target topics to which no message may be sent, or not by who asks.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { replayHazard } from 'dlq-core/domain/failure/topic-names.ts'
import { dlqTopicsAmong } from 'dlq-core/queries/ingest/topics.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { ApiError, invalidField } from '../http/api-error.ts'
import type { Call } from '../http/define-route.ts'

/**
 * @throws {ApiError} 403 where the topic is none of the sender's, 400 where nothing may ever be sent to the topic that
 *   the field "target_topic" names
 */
export async function refuseTarget(
  { sql, dlqPatterns, allowedTargets, access }: Pick<Call, 'sql' | 'dlqPatterns' | 'allowedTargets' | 'access'>,
  topic: string,
): Promise<void> {
  refuseForeignTopic(access.topics, topic)
  const hazard = replayHazard(topic, { source: 'caller', dlqPatterns, partition: null })
  if (hazard === 'internal') throw invalidField('target_topic', 'is an internal topic of the cluster')
  if (hazard === 'dlq-topic' || (await dlqTopicsAmong(sql, [topic])).has(topic))
    throw invalidField('target_topic', 'is a DLQ topic: the message would come straight back')
  refuseUnallowedTarget(allowedTargets, topic)
}

/** @throws {ApiError} 400 where nothing may be sent to the topic, which the field names */
export function refuseUnallowedTarget(allowedTargets: readonly string[], topic: string, field = 'target_topic'): void {
  if (!matchesTopicGlobs(allowedTargets, topic))
    throw invalidField(field, 'is not among the topics of kafka.allowed_targets')
}

/** @throws {ApiError} 403 where the sender's topics do not cover the topic, to which something shall be written */
export function refuseForeignTopic(scope: TopicScope, topic: string): void {
  if (scope !== null && !matchesTopicGlobs(scope, topic))
    throw new ApiError('SYS_DLQ_FORBIDDEN', `this token may not write to ${topic}`)
}
