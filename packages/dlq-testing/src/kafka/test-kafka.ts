// The tests' own Kafka client: quiet, and as patient as a machine needs that does too much at once.
import kafkajs, { type Kafka } from 'kafkajs'

/** Whoever makes a producer, consumer or admin of it also closes that. */
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
