// The log lines of kafkajs in our format. In a storm it says the same thing hundreds of times: the first line is
// written, and when it has been quiet for a while another one with the count.

import kafkajs, { type LogEntry } from 'kafkajs'
import { monotonicNow } from '../clock/monotonic-now.ts'
import type { Log } from '../log.ts'

const quietMs = 10_000

type Storm = { since: number; last: number; repeated: number }

/** What kafkajs calls with each line. */
export function createClientLog(log: Log): (entry: LogEntry) => void {
  const storms = new Map<string, Storm>()

  /** Looks again later, because a storm ends without a sign. */
  function watch(kind: string, waitMs: number): void {
    setTimeout(() => {
      const { since, last, repeated } = storms.get(kind)!
      const leftMs = last + quietMs - monotonicNow()
      if (leftMs > 0) return watch(kind, leftMs)
      storms.delete(kind)
      if (repeated > 0) log.warn({ kafka: kind, repeated, forMs: last - since }, 'kafka_client_repeated')
    }, waitMs).unref()
  }

  function isRepeated(kind: string): boolean {
    const storm = storms.get(kind)
    if (storm !== undefined) {
      storm.last = monotonicNow()
      storm.repeated += 1
      return true
    }
    storms.set(kind, { since: monotonicNow(), last: monotonicNow(), repeated: 0 })
    watch(kind, quietMs)
    return false
  }

  return ({ level, namespace, log: line }) => {
    const { message, error, stack, timestamp, logger, ...context } = line
    const { groupId, memberId, broker, topic, partition, throttleMs } = context
    if (throttleMs !== undefined) {
      log[isRepeated(kindOf(namespace, message)) ? 'debug' : 'warn']({ broker, throttleMs }, 'kafka_throttled')
      return
    }
    // kafkajs retries most of its errors by itself; the others reach us as exceptions.
    // What it says of connections, broker-sockets.ts says better.
    const isNoise = level !== kafkajs.logLevel.ERROR || /Connection|BrokerPool/.test(namespace)
    const lineLevel = isNoise || isRepeated(kindOf(namespace, message)) ? 'debug' : 'warn'
    log[lineLevel](
      { kafka: message, detail: error, namespace, groupId, memberId, broker, topic, partition },
      'kafka_client',
    )
  }
}

/** Lines of one kind differ in what comes after the colon, and in numbers. */
function kindOf(namespace: string, message: string): string {
  return `${namespace}: ${message.split(':', 1)[0]!.replaceAll(/\d+/g, 'N')}`
}
