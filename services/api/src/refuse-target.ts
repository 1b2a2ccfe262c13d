// Topics that nothing may be sent to, whoever asks for it.

import { isDlqTopic } from 'dlq-core/queries/topics.ts'
import { replayHazard } from 'dlq-core/topic-names.ts'
import { invalidField } from './api-error.ts'
import type { ApiDeps } from './define-route.ts'

/** @throws {ApiError} 400 where nothing may ever be sent to the topic that the field "target_topic" names */
export async function refuseTarget(
  { sql, dlqPatterns }: Pick<ApiDeps, 'sql' | 'dlqPatterns'>,
  topic: string,
): Promise<void> {
  const hazard = replayHazard(topic, { source: 'caller', dlqPatterns, partition: null })
  if (hazard === 'internal') throw invalidField('target_topic', 'is an internal topic of the cluster')
  if (hazard === 'dlq-topic' || (await isDlqTopic(sql, topic)))
    throw invalidField('target_topic', 'is a DLQ topic: the message would come straight back')
}
