// The Kafka client of a service: settings for a service that outlives its brokers.

import kafkajs from 'kafkajs'
import type { Config, KafkaConfig } from '../config/config-schema.ts'
import type { Log } from '../log.ts'
import { createBrokerSockets } from './broker-sockets.ts'
import { createClientLog } from './client-log.ts'
import { kafkaSecurity } from './kafka-security.ts'

const connectTimeoutMs = 5000

/** `latest` gives the passwords of each new connection; without it, those of the settings are used for good. */
export function connectKafka(config: KafkaConfig, log: Log, latest?: () => Config['kafka']): kafkajs.Kafka {
  const writeLine = createClientLog(log)
  return new kafkajs.Kafka({
    clientId: config.client_id,
    brokers: config.brokers,
    ...kafkaSecurity(config, { log, latest }),
    connectionTimeout: connectTimeoutMs,
    requestTimeout: config.request_timeout,
    // The loops of the services own the long waits; the client gives up soon and says so.
    retry: { initialRetryTime: 100, retries: 5, maxRetryTime: 2000 },
    logLevel: kafkajs.logLevel.WARN,
    logCreator: () => writeLine,
    socketFactory: createBrokerSockets({ log, timeoutMs: connectTimeoutMs }),
  })
}
