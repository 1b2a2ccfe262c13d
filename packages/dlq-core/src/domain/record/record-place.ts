// Where a record stands in Kafka.

/** `offset` is bigint, because Kafka's are int64 and any value may arrive. */
export type RecordPlace = { readonly topic: string; readonly partition: number; readonly offset: bigint }

export type PartitionPlace = Pick<RecordPlace, 'topic' | 'partition'>

/** The key of a partition in maps: "topic:partition". Kafka allows no colon in a topic's name. */
export function partitionKey({ topic, partition }: PartitionPlace): string {
  return `${topic}:${partition}`
}

/** The key of a place in maps and sets: "topic:partition:offset". */
export function placeKey({ topic, partition, offset }: RecordPlace): string {
  return `${topic}:${partition}:${offset}`
}
