// The Kafka client of the tests: quiet, and patient enough for a busy machine.
import kafkajs, { type Kafka } from 'kafkajs'

/** A test that creates a producer, consumer or admin of it also closes that. */
export function createTestKafka(brokers: readonly string[]): Kafka {
  return new kafkajs.Kafka({
    clientId: 'test',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
    // kafkajs gives a connection one second, and five tries of each request.
    connectionTimeout: 20_000,
    requestTimeout: 30_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 30 },
  })
}
