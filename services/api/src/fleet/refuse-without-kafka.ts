// Retries are refused where nobody could ever carry them out.

import { isWithoutKafka } from 'dlq-core/queries/retriers.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { ApiError } from './api-error.ts'

/** Some times as long as the retriers take to say that they live. */
const aliveMs = 15_000

/** @throws {ApiError} where retriers run, and none of them has a Kafka configured */
export async function refuseWithoutKafka(sql: Sql): Promise<void> {
  if (!(await isWithoutKafka(sql, { aliveMs }))) return
  throw new ApiError(
    'SYS_DLQ_KAFKA_UNAVAILABLE',
    'no retrier has Kafka configured: set kafka.brokers, or retry.without_kafka for development',
  )
}
