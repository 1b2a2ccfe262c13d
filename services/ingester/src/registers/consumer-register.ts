// Bounds the consumer groups that the dead letters of a DLQ topic name. Behind the bound a message has none: what its
// headers say stays there. A group that is admitted is looked up in the database once; after that it costs a look into a map.

import type { DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { admitConsumers, type Consumer } from 'dlq-core/queries/readers/admit-consumers.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

export type ConsumerRegister = {
  /** Takes the consumer group from messages whose DLQ topic names too many. */
  admit(letters: readonly DeadLetter[]): Promise<void>
  /** The same for one message. False where the database has to be asked. */
  admitKnown(message: NewMessage): boolean
  /** The database may not have what it was told: each group is looked up again. */
  forget(): void
}

const maxRemembered = 10_000
/** One that was refused is asked about again: once messages of made-up groups are deleted, there is room for it. */
const refusedForMs = 60_000

export function createConsumerRegister(sql: Sql, { now }: { now: () => number }): ConsumerRegister {
  /** Whether messages may name it, and until when that holds. */
  const known = new Map<string, { isAdmitted: boolean; until: number }>()

  /** Undefined where the database has to be asked. */
  function lookUp(consumer: Consumer): boolean | undefined {
    const found = known.get(keyOf(consumer))
    return found === undefined || found.until <= now() ? undefined : found.isAdmitted
  }

  return {
    async admit(letters) {
      const admitted = new Map<string, boolean>()
      const unknown = new Map<string, Consumer>()
      for (const { message } of letters) {
        const { dlq_topic, consumer_group } = message
        if (consumer_group === null) continue
        const key = keyOf({ dlq_topic, consumer_group })
        const isAdmitted = lookUp({ dlq_topic, consumer_group })
        if (isAdmitted !== undefined) admitted.set(key, isAdmitted)
        else unknown.set(key, { dlq_topic, consumer_group })
      }
      if (unknown.size > 0) {
        const found = new Set((await admitConsumers(sql, [...unknown.values()])).map(keyOf))
        // A plain bound: forgetting all of it now and then costs one query for the groups of the next batches.
        if (known.size + unknown.size > maxRemembered) known.clear()
        for (const key of unknown.keys()) {
          const isAdmitted = found.has(key)
          known.set(key, { isAdmitted, until: isAdmitted ? Number.POSITIVE_INFINITY : now() + refusedForMs })
          admitted.set(key, isAdmitted)
        }
      }
      for (const { message } of letters) {
        const { dlq_topic, consumer_group } = message
        if (consumer_group !== null && !admitted.get(keyOf({ dlq_topic, consumer_group })))
          message.consumer_group = null
      }
    },
    admitKnown(message) {
      const { dlq_topic, consumer_group } = message
      if (consumer_group === null) return true
      const isAdmitted = lookUp({ dlq_topic, consumer_group })
      if (isAdmitted === false) message.consumer_group = null
      return isAdmitted !== undefined
    },
    forget: () => known.clear(),
  }
}

/** Kafka's topic names hold no space. */
function keyOf({ dlq_topic, consumer_group }: Consumer): string {
  return `${dlq_topic} ${consumer_group}`
}
