// The retrier in the API's tests: its own code, with a producer that sends nothing to Kafka.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import type { Outgoing } from '../../retrier/src/publish/outgoing.ts'
import { pretendingProducer } from '../../retrier/src/publish/pretending-producer.ts'
import { createSlotWorker } from '../../retrier/src/slot/run-slot.ts'
import { pretendingSlotDeps } from '../../retrier/src/test-retrier.ts'
import { startRunWorker } from './runs/test-runs.ts'

/** A pass that finds nothing takes ten milliseconds of CPU: without a pause between them, waiting tests would take a core. */
const pauseMs = 25

type RetrierOptions = {
  /** The reason why Kafka refuses every record. Null: it takes them. */
  refusal?: string | null
}

/** A slot of the retrier, and the records that its producer was given. */
function createRetrier(sql: Database, { refusal = null }: RetrierOptions = {}) {
  const sent: Outgoing[] = []
  const policies = createPolicySource({
    ...{ sql, log: createLog({ service: 'retrier', level: 'silent' }) },
    configured: { section: {}, fileEntries: [] },
  })
  const producer: typeof pretendingProducer = {
    ...pretendingProducer,
    async publish(part) {
      sent.push(...part.records)
      const result = await pretendingProducer.publish(part)
      if (refusal === null) return result
      return {
        ...result,
        published: [],
        refused: part.records.map(({ id, topic }) => ({ id, topic, reason: refusal, refusesTopic: false })),
      }
    },
  }
  const slot = createSlotWorker(
    pretendingSlotDeps(sql, {
      createProducer: () => producer,
      loadPolicies: async () => void (await policies.refresh()),
      policyOf: policies.policyOf,
    }),
  )
  return { slot, sent }
}

/** One pass of the retrier. Returns the records that it published. */
export async function retryDueOnce(sql: Database): Promise<Outgoing[]> {
  const { slot, sent } = createRetrier(sql)
  try {
    await slot.pass()
  } finally {
    await slot.close()
  }
  return sent
}

/** Retries due messages and carries runs on until `stop` is called, with at least one pass. */
export function startRetrier(sql: Database, options: RetrierOptions = {}): { stop(): Promise<void> } {
  let stopped = false
  const { slot } = createRetrier(sql, options)
  const runs = startRunWorker(sql)
  const running = (async () => {
    try {
      do {
        await slot.pass()
        await sleep(pauseMs)
      } while (!stopped)
    } finally {
      await slot.close()
    }
  })()
  return {
    async stop() {
      stopped = true
      await Promise.all([running, runs.stop()])
    },
  }
}
