// The condition of a filter on topics, resolved: which column it is about, and which names it has (reading/message-topic.ts).

export type TopicCondition = {
  column: 'dlq_topic' | 'original_topic'
  /** The names to look up. Null where a glob may match many names. */
  names: readonly string[] | null
  /** Set where `names` is null. */
  glob: string | null
  /**
   * For DLQ topics: true where the original topics have many messages of other DLQ topics. Then each row is tested, up to
   * a bound. Otherwise the index tests the DLQ topic.
   */
  isMixed?: boolean
}
