// The list of topics that the consumer reads. When it changes, the consumer ends, and the next one reads the new list.

import type { SharedTopic } from 'dlq-core/queries/ingest/topics.ts'
import { createWake } from 'dlq-core/runtime/run-loop.ts'

export type TopicList = ReturnType<typeof createTopicList>

export function createTopicList(stop: AbortSignal) {
  const wake = createWake()
  let topics: SharedTopic[] = []
  let changed = new AbortController()
  return {
    /** Notified when the list changes. */
    wake,
    /** The topics to consume, and a signal that aborts when the list changes or one of them was recreated. */
    current: () => ({
      topics: topics.map(({ topic }) => topic),
      signal: AbortSignal.any([stop, changed.signal]),
    }),
    /** Whether Kafka has an id of the topic, by which a deleted one is told from its successor. */
    hasId: (topic: string) => topics.some((of) => of.topic === topic && of.topic_id !== null),
    /** The next list is another one, whatever is on it. */
    forget() {
      topics = []
    },
    /** Returns the topics that are not on the list any more. */
    update(found: SharedTopic[]): string[] {
      const isSame = ({ topic, topic_id: topicId }: SharedTopic, index: number) =>
        topic === topics[index]!.topic && topicId === topics[index]!.topic_id
      if (found.length === topics.length && found.every(isSame)) return []
      const gone = topics.filter(({ topic }) => !found.some((of) => of.topic === topic)).map(({ topic }) => topic)
      topics = found
      changed.abort()
      changed = new AbortController()
      wake.notify()
      return gone
    },
  }
}
