// dlq_messages: dead letters that programs report by HTTP.

import type { NewMessage } from '../../domain/message/new-message.ts'
import { lines } from '../reading/summary.ts'
import type { Sql } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

/** A message without a record on a DLQ topic. */
export type ReportedMessage = Omit<
  NewMessage,
  | 'id'
  | 'dlq_cluster'
  | 'dlq_topic'
  | 'dlq_partition'
  | 'dlq_offset'
  | 'record_timestamp'
  | 'record_timestamp_type'
  | 'record_source'
  | 'successor_of'
  | 'related_to'
  | 'held_by_route'
  | 'frames_id'
  | 'original_topic_source'
  | 'record_headers'
> & { original_topic_source: 'caller'; record_headers: string }

/** Stores the message under an id made of the present time. Returns the id. */
export async function insertReport(sql: Sql, message: ReportedMessage): Promise<string> {
  const [row] = await sql<[{ id: string }]>`insert into dlq.dlq_messages ${sql(message)} returning id`
  return row.id
}

/** Of reports by a token for some topics. A glob may match any number of them, and each is a line of every count. */
export const maxReportedTopics = 1000

/** Whether such a token may report for the topic: it has messages already, or the token's topics have few reports. */
export async function mayReportTopic(
  sql: Sql,
  { original_topic, scope }: { original_topic: string; scope: TopicScope },
): Promise<boolean> {
  const [row] = await sql<[{ may: boolean }]>`
    select exists (select from ${lines(sql)} where original_topic = ${original_topic}) or (
      select count(*) from (
        select original_topic from ${lines(sql)}
        where dlq_topic is null and ${topicInScope(sql, scope, 'original_topic')}
        group by original_topic having sum(count) > 0
      ) reported
    ) < ${maxReportedTopics} as may`
  return row.may
}
