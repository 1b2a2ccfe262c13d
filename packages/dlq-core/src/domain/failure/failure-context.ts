// The failure that a dead letter's headers describe. Every framework uses its own headers;
// each family under families/ translates one of them into this shape.

/** The known facts about one failure. Null where the record does not tell. */
export type FailureContext = {
  readonly originalTopic: string | null
  /** Negative if the headers say that the record was on no partition. */
  readonly originalPartition: number | null
  readonly originalOffset: bigint | null
  /** Milliseconds since the epoch. */
  readonly originalTimestamp: bigint | null
  readonly consumerGroup: string | null
  /** The class that best names the error: the cause's, if the outer one is only a wrapper. */
  readonly errorClass: string | null
  readonly errorMessage: string | null
  readonly errorStacktrace: string | null
  /** Deliveries before the consumer gave up, if it counts them. */
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
