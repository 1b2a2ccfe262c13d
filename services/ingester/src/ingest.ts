// The loops of the ingester. One discovers the DLQ topics, one consumes them and starts again when the list changes, one
// watches where Kafka's logs begin and end.

import { mappingsOf } from 'dlq-core/domain/discovery/subscription.ts'
import type { TopicMapping } from 'dlq-core/domain/failure/topic-names.ts'
import type { RouteMode } from 'dlq-core/domain/failure/topic-routes.ts'
import type { ReadingSettings } from 'dlq-core/domain/message/new-message.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { forgetIngester, noteIngester } from 'dlq-core/queries/ingest/ingesters.ts'
import { createMessagePartitions } from 'dlq-core/queries/ingest/message-insert.ts'
import { beginGeneration } from 'dlq-core/queries/ingest/positions.ts'
import type { SharedTopic } from 'dlq-core/queries/ingest/topics.ts'
import { createDatabaseClock, measureClockMs } from 'dlq-core/runtime/clock/database-clock.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { messageWithHint } from 'dlq-core/runtime/database/database-errors.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { DecodePools } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { fetchOriginals } from 'dlq-core/runtime/fetching/fetch-originals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { type PolicySource, policyPollMs } from 'dlq-core/runtime/policy-source.ts'
import { createWake, runLoop } from 'dlq-core/runtime/run-loop.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import type { Admin, Kafka } from 'kafkajs'
import { consumeTopics } from './consume/consume-topics.ts'
import { createDecoder } from './decode/decode-letters.ts'
import { checkOrigins } from './discovery/check-origins.ts'
import { lookAtCandidates } from './discovery/look-at-candidates.ts'
import { answerSamples } from './discovery/sample-topics.ts'
import type { IngesterMetrics } from './ingester-metrics.ts'
import { completeRecords } from './read/complete-records.ts'
import { readFromCut } from './read/cut-log.ts'
import { discoverTopics, leaveCluster } from './read/discover-topics.ts'
import { isRefused } from './read/missing-acl.ts'
import { createConsumerRegister } from './registers/consumer-register.ts'
import { createFramesRegister } from './registers/frames-register.ts'
import { createGroupRegister } from './registers/group-register.ts'
import { createLag } from './registers/lag.ts'
import { createRouteRegister } from './registers/route-register.ts'
import { createSetbacks } from './registers/setbacks.ts'
import { createJoinedStore } from './store/join-stores.ts'
import { logStored } from './store/log-stored.ts'
import { spanDeadLetters } from './store/span-dead-letters.ts'
import type { StoreDeps } from './store/store-batch.ts'
import { createIngesterState } from './watch/ingester-state.ts'
import { createLogWatch, lookEveryMs } from './watch/watch-logs.ts'

export type IngestDeps = {
  /** Names this process in the fleet's status. */
  ingesterId: string
  kafka: Kafka
  admin: Admin
  reader: TopicReader
  sql: Database
  log: Log
  signal: AbortSignal
  metrics: IngesterMetrics
  tracing: Tracing
  groupId: string
  patterns: readonly string[]
  ledgerTopic: string
  refreshIntervalMs: number
  policies: PolicySource
  settings: ReadingSettings
  routeMode: RouteMode
  /** Null where only JSON is read. */
  payloads: PayloadReader | null
  pools: DecodePools
  /** Larger values are not stored. */
  maxValueBytes: number
}

/** The status shows ingesters that were seen within the last minute. */
const noteIntervalMs = 10_000
const candidatesMs = 10_000
/** Somebody waits for the answer. */
const samplesMs = 500
const originsMs = 60_000

/** Ingests until the signal aborts. */
export async function ingest(deps: IngestDeps): Promise<void> {
  const { kafka, sql, log, signal, metrics, groupId, policies, pools, maxValueBytes, payloads } = deps
  const reader: TopicReader = {
    ...deps.reader,
    fetchRecords: (place) => pools.originals.within(() => deps.reader.fetchRecords(place)),
  }
  const subscription = createSubscription(signal)
  // One array that changes in place: all that read records see what subscriptions say from the next batch on.
  const mappings: TopicMapping[] = [...deps.settings.mappings]
  const settings: ReadingSettings = { ...deps.settings, mappings }
  const groups = createGroupRegister(sql, { now: monotonicNow })
  const frames = createFramesRegister(sql, { now: monotonicNow })
  const routes = createRouteRegister(sql, { mappings: settings.mappings, mode: deps.routeMode, now: monotonicNow })
  const consumers = createConsumerRegister(sql)
  const complete = (records: readonly DeadLetterRecord[]) => completeRecords({ ...deps, routes }, records)
  const clock = createDatabaseClock(sql)
  const store: StoreDeps = {
    ...{ sql, settings, groups, frames, routes, consumers, complete, payloads, maxValueBytes },
    lag: createLag({ now: monotonicNow }),
    setbacks: createSetbacks(),
    decoder: payloads && createDecoder({ reader: payloads, policyOf: settings.policyOf }),
    fetchOriginals: (places) => fetchOriginals(reader, places, { log }),
    now: clock.now,
    random: Math.random,
  }
  const joined = createJoinedStore(store)
  // kafkajs fails for all topics while a deleted one is on the list, so a fault is a reason to look at once.
  const lookAgain = createWake()
  let cluster = ''
  const noteAgain = createWake()
  const state = createIngesterState({ onChange: () => noteAgain.notify() })

  const note = () => noteIngester(sql, { id: deps.ingesterId, cluster: cluster || null, ...state.now() })

  /** Behind the same addresses another cluster may answer one day, also while this process runs. */
  async function identify(): Promise<void> {
    const was = cluster
    const { clusterId } = await deps.admin.describeCluster()
    if (clusterId === was) return
    if (was !== '') await leaveCluster(sql, was)
    // Several batches may ask at once.
    if (cluster !== was) return
    cluster = clusterId
    if (was === '') return
    log.error({ was, now: cluster }, 'cluster_changed')
    subscription.forget()
  }

  async function discover(): Promise<void> {
    const { topics, startedOver, subscriptions, listed } = await discoverTopics({ ...deps, cluster })
    mappings.splice(0, mappings.length, ...mappingsOf(subscriptions), ...deps.settings.mappings)
    for (const { topic, partition, seen_offset: seenOffset } of startedOver) {
      metrics.recreated(topic)
      log.error({ topic, partition, seenOffset }, 'topic_recreated')
    }
    const left = subscription.update(topics)
    const ignored = left.filter((topic) => listed.has(topic))
    if (ignored.length > 0) log.info({ topics: ignored, cause: 'no subscription and no pattern' }, 'topics_left')
    // Kafka does not list topics that a client may not see.
    const gone = left.filter((topic) => !listed.has(topic))
    if (gone.length === 0) return
    log.warn({ topics: gone, cause: 'deleted, or an ACL hides them' }, 'topics_gone')
    for (const topic of gone)
      if (await isRefused(reader, topic)) log.error({ missing: `Read on Topic ${topic}` }, 'acl_missing')
  }

  const discovering = runLoop(
    async () => {
      if (cluster === '') await connect(deps)
      await identify()
      await discover()
      return { more: false }
    },
    { name: 'discover', intervalMs: deps.refreshIntervalMs, signal, log, wake: lookAgain },
  )
  const consuming = runLoop(
    async () => {
      const { topics, signal: changed } = subscription.current()
      await Promise.all([policies.load(), clock.measure()])
      metrics.topics.set(topics.length)
      if (topics.length === 0) return { more: false }
      log.info({ topics }, 'subscribing')
      // By it the others of the group know this ingester as one of theirs.
      await note()
      await consumeTopics({
        kafka,
        reader,
        sql,
        log,
        cluster,
        groupId,
        ingesterId: deps.ingesterId,
        topics,
        pool: pools.fetches,
        maxValueBytes,
        signal: changed,
        store: async (batch, options) => {
          const stop = metrics.seconds.startTimer()
          const storing = spanDeadLetters(deps, batch, () => joined(batch, options))
          storing.then(state.canStore, (error: Error) => state.cannotStore(`cannot store: ${messageWithHint(error)}`))
          const outcome = await storing
          stop()
          return outcome
        },
        onFault: () => {
          lookAgain.notify()
          state.cannotRead('cannot read: a broker does not answer')
        },
        onFetched: state.canRead,
        onCrash: (error) => {
          metrics.crashes.inc()
          state.cannotRead(`cannot read: ${error.message}`)
        },
        onAnotherLeader: (batch, seen) => readFromCut(deps, batch, seen),
        onRecreated: async (batch, { seenOffset, epoch }, lowOffset) => {
          const { topic, partition } = batch
          await identify()
          if (cluster !== batch.cluster)
            throw new DlqError('CLUSTER_CHANGED', 'the batch is of a cluster that was replaced')
          // Discovery sees it by the topic's id, for all partitions. Where Kafka has no ids, this partition starts over here.
          await discover()
          const isSame = subscription.hasId(topic)
          if (isSame && (await readFromCut(deps, batch, { seenOffset, epoch })) !== null) return
          if (!(await beginGeneration(sql, { ...batch, seen_offset: seenOffset, next_offset: lowOffset }))) return
          metrics.recreated(topic)
          log.error({ topic, partition, seenOffset, lowOffset }, 'topic_recreated')
        },
        onStored: (batch, outcome) => {
          metrics.stored(batch, outcome)
          logStored(log, batch, outcome)
        },
        onBehind: () => {
          groups.forget()
          routes.forget()
          consumers.forget()
        },
        onLost: ({ topic }, count) => metrics.lost(topic, count),
        onAssigned: (assignment) => {
          metrics.assigned(Object.keys(assignment))
          state.assigned(assignment)
        },
        onCannotRead: state.cannotRead,
      }).finally(state.unassigned)
      return { more: true }
    },
    { name: 'consume', intervalMs: 60_000, signal, log, wake: subscription.wake },
  )
  const watchLogs = createLogWatch({ ...deps, now: monotonicNow })
  const watching = runLoop(async () => (cluster ? watchLogs(cluster) : { more: false }), {
    name: 'watch',
    // Half of the interval, so that another ingester takes a topic in time where one does not.
    intervalMs: lookEveryMs / 2,
    signal,
    log,
  })
  const asCluster = (pass: (cluster: string) => Promise<{ more: boolean }>) => async () =>
    cluster ? pass(cluster) : { more: false }
  const discoveryLoops = [
    runLoop(
      asCluster((cluster) => lookAtCandidates({ ...deps, reader }, cluster)),
      { name: 'candidates', intervalMs: candidatesMs, signal, log },
    ),
    runLoop(
      asCluster((cluster) => answerSamples({ reader, sql, log, mappings }, cluster)),
      { name: 'samples', intervalMs: samplesMs, signal, log },
    ),
    runLoop(
      asCluster((cluster) => checkOrigins(deps, cluster)),
      { name: 'origins', intervalMs: originsMs, signal, log },
    ),
  ]
  const following = runLoop(policies.refresh, { name: 'policies', intervalMs: policyPollMs, signal, log })
  const timing = runLoop(clock.measure, { name: 'database-clock', intervalMs: measureClockMs, signal, log })
  const followingRoutes = runLoop(routes.refresh, { name: 'routes', intervalMs: policyPollMs, signal, log })
  const noting = runLoop(
    async () => {
      await note()
      return { more: false }
    },
    { name: 'note', intervalMs: noteIntervalMs, signal, log, wake: noteAgain },
  )
  try {
    await Promise.all([discovering, consuming, watching, following, followingRoutes, timing, noting, ...discoveryLoops])
  } finally {
    // Where the database is away, the row is forgotten after a day.
    await forgetIngester(sql, deps.ingesterId).catch((error) => log.info({ error }, 'ingester_not_forgotten'))
  }
}

async function connect({ admin, sql, log }: IngestDeps): Promise<void> {
  // Partitions are created ahead at migration, here, and daily; storing a batch creates missing ones.
  const made = await createMessagePartitions(sql)
  if (made > 0) log.info({ made }, 'partitions_made')
  await admin.connect()
}

/** The topics to consume, and a signal that aborts when the list changes or one of them was recreated. */
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
    /** Whether Kafka has an id of the topic, by which a deleted one is told from its successor. */
    hasId: (topic: string) => topics.some((of) => of.topic === topic && of.topic_id !== null),
    /** The next list is another one, whatever is on it. */
    forget() {
      topics = []
    },
    /** Returns the topics that are not on the list any more. */
    update(found: SharedTopic[]): string[] {
      const isSame = ({ topic, topic_id: topicId }: SharedTopic, index: number) =>
        topic === topics[index]!.topic && topicId === topics[index]!.topic_id
      if (found.length === topics.length && found.every(isSame)) return []
      const gone = topics.filter(({ topic }) => !found.some((of) => of.topic === topic)).map(({ topic }) => topic)
      topics = found
      changed.abort()
      changed = new AbortController()
      wake.notify()
      return gone
    },
  }
}
