// The condition of a filter on topics, resolved: which column it is about, and which names it has (reading/message-topic.ts).

export type TopicCondition = {
  column: 'dlq_topic' | 'original_topic'
  /** The names to look up. Null where a glob may match many names. */
  names: readonly string[] | null
  /** Set where `names` is null. */
  glob: string | null
  /**
   * Of DLQ topics: whether their original topics have so many messages of other DLQ topics that each row is tested, on a
   * bounded number of rows. Otherwise the index tests the DLQ topic.
   */
  isMixed?: boolean
}
