// What a dead letter's headers say about its failure. Every framework says it in its
// own words; each parser under families/ translates one dialect into this shape.

/** What is known about one failure. Null where the record does not say. */
export type FailureContext = {
  readonly originalTopic: string | null
  /** Negative where the record says that there was none. */
  readonly originalPartition: number | null
  readonly originalOffset: bigint | null
  /** Milliseconds since the epoch. */
  readonly originalTimestamp: bigint | null
  readonly consumerGroup: string | null
  /** The class that best names the error: the cause's, where the outer one is only a wrapper. */
  readonly errorClass: string | null
  readonly errorMessage: string | null
  readonly errorStacktrace: string | null
  /** Deliveries that the consumer made before it gave up, where it counts them. */
  readonly attempts: number | null
}

export const unknownFailure: FailureContext = {
  originalTopic: null,
  originalPartition: null,
  originalOffset: null,
  originalTimestamp: null,
  consumerGroup: null,
  errorClass: null,
  errorMessage: null,
  errorStacktrace: null,
  attempts: null,
}
