// The Kafka client of a service: settings that fit a service that must outlive its brokers, and
// kafkajs's log lines turned into ours.

import kafkajs from 'kafkajs'
import type { Config, KafkaConfig } from './config-schema.ts'
import { kafkaSecurity } from './kafka-security.ts'
import type { Log } from './log.ts'

/** `latest` gives the secrets of each new connection; those of the settings, for good, unless given. */
export function connectKafka(config: KafkaConfig, log: Log, latest?: () => Config['kafka']): kafkajs.Kafka {
  return new kafkajs.Kafka({
    clientId: config.client_id,
    brokers: config.brokers,
    ...kafkaSecurity(config, latest),
    connectionTimeout: 5000,
    requestTimeout: config.request_timeout,
    // The loops of the services own the long waits; the client gives up soon and says so.
    retry: { initialRetryTime: 100, retries: 5, maxRetryTime: 2000 },
    logLevel: kafkajs.logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, error, stack, timestamp, logger, ...context } = entry.log
      const { groupId, memberId, broker, topic, partition } = context
      // What kafkajs calls an error it mostly retries by itself; what it cannot retry reaches us as an exception.
      // A broker that is away makes ten lines a second of connections alone.
      const isNoise = entry.level !== kafkajs.logLevel.ERROR || /Connection|BrokerPool/.test(entry.namespace)
      const level = isNoise ? 'debug' : 'warn'
      log[level](
        { kafka: message, detail: error, namespace: entry.namespace, groupId, memberId, broker, topic, partition },
        'kafka_client',
      )
    },
  })
}
