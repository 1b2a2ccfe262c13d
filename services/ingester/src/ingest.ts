// The loops of the ingester: one keeps the list of topics true, one consumes it and starts anew when it
// changes, one keeps an eye on how far Kafka's logs go.

import type { ReadingSettings } from 'dlq-core/new-message.ts'
import { createMessagePartitions } from 'dlq-core/queries/message-insert.ts'
import { beginGeneration } from 'dlq-core/queries/positions.ts'
import type { SharedTopic } from 'dlq-core/queries/topics.ts'
import type { DeadLetterRecord } from 'dlq-core/record.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { type PolicySource, policyPollMs } from 'dlq-core/runtime/policy-source.ts'
import { createWake, runLoop } from 'dlq-core/runtime/run-loop.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import type { Admin, Kafka } from 'kafkajs'
import { completeRecords } from './complete-records.ts'
import { consumeTopics } from './consume-topics.ts'
import { discoverTopics } from './discover-topics.ts'
import { fetchOriginals } from './fetch-originals.ts'
import { createGroupRegister } from './group-register.ts'
import type { IngesterMetrics } from './ingester-metrics.ts'
import { type StoreDeps, storeBatch } from './store-batch.ts'
import { traceBatch } from './trace-batch.ts'
import { createLogWatch, lookEveryMs } from './watch-logs.ts'

export type IngestDeps = {
  kafka: Kafka
  admin: Admin
  sql: Database
  log: Log
  signal: AbortSignal
  metrics: IngesterMetrics
  tracing: Tracing
  groupId: string
  patterns: readonly string[]
  refreshIntervalMs: number
  policies: PolicySource
  settings: ReadingSettings
}

/** Ingests until the signal aborts. */
export async function ingest(deps: IngestDeps): Promise<void> {
  const { kafka, sql, log, signal, metrics, groupId, policies, settings } = deps
  const subscription = createSubscription(signal)
  const groups = createGroupRegister(sql, { now: Date.now })
  const complete = (records: readonly DeadLetterRecord[]) => completeRecords(deps, records)
  const store: StoreDeps = {
    ...{ sql, settings, groups, complete },
    fetchOriginals: (places) => fetchOriginals(deps.admin, places, { log }),
    now: () => new Date(),
    random: Math.random,
  }
  // A topic that was deleted makes kafkajs fail for all topics until it is off the list.
  const lookAgain = createWake()
  let cluster = ''

  async function discover(): Promise<void> {
    const { topics, startedOver } = await discoverTopics({ ...deps, cluster })
    for (const { topic, partition, seenOffset } of startedOver) {
      metrics.recreated(topic)
      log.error({ topic, partition, seenOffset }, 'topic_recreated')
    }
    subscription.update(topics)
  }

  const discovering = runLoop(
    async () => {
      cluster ||= await readClusterId(deps)
      await discover()
      return { more: false }
    },
    { name: 'discover', intervalMs: deps.refreshIntervalMs, signal, log, wake: lookAgain },
  )
  const consuming = runLoop(
    async () => {
      const { topics, signal: changed } = subscription.current()
      await policies.load()
      metrics.topics.set(topics.length)
      if (topics.length === 0) return { more: false }
      log.info({ topics }, 'subscribing')
      await consumeTopics({
        kafka,
        sql,
        log,
        cluster,
        groupId,
        topics,
        signal: changed,
        store: async (batch, options) => {
          const stop = metrics.seconds.startTimer()
          const outcome = await traceBatch(deps, batch, () => storeBatch(store, batch, options))
          stop()
          return outcome
        },
        onFault: () => lookAgain.notify(),
        onCrash: () => metrics.crashes.inc(),
        onRecreated: async (batch, seenOffset, lowOffset) => {
          const { topic, partition } = batch
          // By the topic's id, which tells of all its partitions; where Kafka has no ids, this one starts over here.
          await discover()
          if (!(await beginGeneration(sql, { ...batch, seenOffset, nextOffset: lowOffset }))) return
          metrics.recreated(topic)
          log.error({ topic, partition, seenOffset, lowOffset }, 'topic_recreated')
        },
        onStored: (batch, outcome) => metrics.stored(batch, outcome),
        onLost: ({ topic }, count) => metrics.lost(topic, count),
        onAssigned: () => metrics.rebalances.inc(),
      })
      return { more: true }
    },
    { name: 'consume', intervalMs: 60_000, signal, log, wake: subscription.wake },
  )
  const watchLogs = createLogWatch({ ...deps, now: Date.now })
  const watching = runLoop(async () => (cluster ? watchLogs(cluster) : { more: false }), {
    name: 'watch',
    // Half of it, so that what one ingester leaves another takes in time.
    intervalMs: lookEveryMs / 2,
    signal,
    log,
  })
  const following = runLoop(policies.refresh, { name: 'policies', intervalMs: policyPollMs, signal, log })
  await Promise.all([discovering, consuming, watching, following])
}

async function readClusterId({ admin, sql, log }: IngestDeps): Promise<string> {
  // Partitions are made ahead at migration, here, and daily; missing ones are made on demand.
  const made = await createMessagePartitions(sql)
  if (made > 0) log.info({ made }, 'partitions_made')
  await admin.connect()
  const { clusterId } = await admin.describeCluster()
  return clusterId
}

/** The topics to consume, and a signal that aborts when they are no longer these, or one of them was made anew. */
function createSubscription(stop: AbortSignal) {
  const wake = createWake()
  let topics: SharedTopic[] = []
  let changed = new AbortController()
  return {
    wake,
    current: () => ({
      topics: topics.map(({ topic }) => topic),
      signal: AbortSignal.any([stop, changed.signal]),
    }),
    update(found: SharedTopic[]) {
      const isSame = ({ topic, topicId }: SharedTopic, index: number) =>
        topic === topics[index]!.topic && topicId === topics[index]!.topicId
      if (found.length === topics.length && found.every(isSame)) return
      topics = found
      changed.abort()
      changed = new AbortController()
      wake.notify()
    },
  }
}
