// Refuses retries that no retrier could carry out.

import { isWithoutKafka } from 'dlq-core/queries/retry/retriers.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { ApiError } from '../http/api-error.ts'

/** Several times the interval of the retriers' heartbeats. */
const aliveMs = 15_000

/** @throws {ApiError} 503 where retriers run, and none of them has Kafka configured */
export async function refuseWithoutKafka(sql: Sql): Promise<void> {
  if (!(await isWithoutKafka(sql, { aliveMs }))) return
  throw new ApiError(
    'SYS_DLQ_KAFKA_UNAVAILABLE',
    'no retrier has Kafka configured: set kafka.brokers, or retry.without_kafka for development',
  )
}
