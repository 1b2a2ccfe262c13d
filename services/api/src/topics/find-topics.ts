// Finds topics for people: DLQ topics as they were found in Kafka, original topics as messages name them.

import { isDlqTopic } from 'dlq-core/queries/ingest/topics.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import {
  type DlqTopic,
  listDlqTopics,
  listOriginalTopics,
  type TopicPlace,
  type TopicSort,
} from 'dlq-core/queries/topic-lists/topic-list.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'

export const topicKinds = ['dlq', 'original', 'candidate'] as const
export type TopicKind = (typeof topicKinds)[number]
/** Of topics that messages name. */
export type MessageTopicKind = Exclude<TopicKind, 'candidate'>

export type FoundTopic = (DlqTopic | { topic: string; cluster: null }) & { rank: string }

type Asked = {
  scope: TopicScope
  q?: string | undefined
  topic?: string
  sort?: TopicSort
  losing?: boolean
  after: TopicPlace | null
  limit: number
}

/** `candidate`: see listCandidates, whose rows tell other things. */
export async function findTopics(sql: Sql, kind: MessageTopicKind, asked: Asked): Promise<FoundTopic[]> {
  if (kind === 'dlq') return listDlqTopics(sql, asked)
  return (await listOriginalTopics(sql, asked)).map((found) => ({ ...found, cluster: null }))
}

/** One topic in the scope, of the kind if that is given: in Kafka rather than gone. Null where there is none. */
export async function findTopic(
  sql: Sql,
  { topic, kind: wanted, scope }: { topic: string; kind?: MessageTopicKind | undefined; scope: TopicScope },
): Promise<{ kind: MessageTopicKind; found: FoundTopic } | null> {
  const kind = wanted ?? ((await isDlqTopic(sql, topic)) ? 'dlq' : 'original')
  const all = await findTopics(sql, kind, { scope, topic, after: null, limit: 100 })
  const found = all.find((one) => one.cluster === null || one.gone_at === null) ?? all[0]
  return found ? { kind, found } : null
}
