// The loops of the ingester. One discovers the DLQ topics, one consumes them and starts again when the list changes, one
// watches where Kafka's logs begin and end.

import type { TopicMapping } from 'dlq-core/domain/failure/topic-names.ts'
import type { RouteMode } from 'dlq-core/domain/failure/topic-routes.ts'
import type { ReadingSettings } from 'dlq-core/domain/message/new-message.ts'
import { forgetIngester, noteIngester } from 'dlq-core/queries/ingest/ingesters.ts'
import { createMessagePartitions } from 'dlq-core/queries/ingest/message-insert.ts'
import { beginGeneration } from 'dlq-core/queries/ingest/positions.ts'
import { createDatabaseClock, measureClockMs } from 'dlq-core/runtime/clock/database-clock.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { messageWithHint } from 'dlq-core/runtime/database/database-errors.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { BoundedReader } from 'dlq-core/runtime/fetching/bounded-reader.ts'
import type { DecodePool } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { fetchOriginals } from 'dlq-core/runtime/fetching/fetch-originals.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { type PolicySource, policyPollMs } from 'dlq-core/runtime/policy-source.ts'
import { createWake, runLoop, type Wake } from 'dlq-core/runtime/run-loop.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import type { Admin, Kafka } from 'kafkajs'
import { type ConsumeDeps, consumeTopics } from './consume/consume-topics.ts'
import { createDecoder } from './decode/decode-letters.ts'
import { checkOrigins } from './discovery/check-origins.ts'
import { lookAtCandidates } from './discovery/look-at-candidates.ts'
import { answerSamples } from './discovery/sample-topics.ts'
import type { IngesterMetrics } from './ingester-metrics.ts'
import { type ClusterTopics, createClusterTopics } from './read/cluster-topics.ts'
import { completeRecords } from './read/complete-records.ts'
import { readFromCut } from './read/cut-log.ts'
import { createTopicList, type TopicList } from './read/topic-list.ts'
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
import type { IngesterState } from './watch/ingester-state.ts'
import { createLogWatch, lookEveryMs } from './watch/watch-logs.ts'

export type IngestDeps = {
  /** Names this process in the fleet's status. */
  ingesterId: string
  kafka: Kafka
  admin: Admin
  reader: BoundedReader
  sql: Database
  log: Log
  signal: AbortSignal
  metrics: IngesterMetrics
  state: IngesterState
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
  /** Bounds what the fetches of DLQ topics unpack. */
  pool: DecodePool
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
  const { reader, sql, log, signal, policies, state } = deps
  const configured = deps.settings.mappings
  // One array that changes in place: all that read records see what subscriptions say from the next batch on.
  const mappings: TopicMapping[] = [...configured]
  const clock = createDatabaseClock(sql)
  const store = createStoreDeps(deps, { settings: { ...deps.settings, mappings }, now: clock.now })
  const topicList = createTopicList(signal)
  const cluster = createClusterTopics({ ...deps, topicList, configured, mappings })
  const lookAgain = createWake()
  const note = () => noteIngester(sql, { id: deps.ingesterId, cluster: cluster.id() || null, ...state.now() })
  const handlers = createHandlers(deps, { store, cluster, topicList, lookAgain })

  const discover = async () => {
    if (cluster.id() === '') await connect(deps)
    await cluster.identify()
    await cluster.discover()
    return { more: false }
  }
  const consume = async () => {
    const { topics, signal: changed } = topicList.current()
    await Promise.all([policies.load(), clock.measure()])
    deps.metrics.topics.set(topics.length)
    if (topics.length === 0) return { more: false }
    log.info({ topics }, 'subscribing')
    // By it the others of the group know this ingester as one of theirs.
    await note()
    const consumer = { ...deps, ...handlers, cluster: cluster.id(), topics, signal: changed }
    await consumeTopics(consumer).finally(state.unassigned)
    return { more: true }
  }
  const watchLogs = createLogWatch({ ...deps, now: monotonicNow })
  /** Does nothing while no cluster has answered. */
  const ofCluster = (pass: (cluster: string) => Promise<{ more: boolean }>) => async () =>
    cluster.id() === '' ? { more: false } : pass(cluster.id())
  const loop = (name: string, intervalMs: number, pass: Parameters<typeof runLoop>[0], wake?: Wake) =>
    runLoop(pass, { name, intervalMs, signal, log, ...(wake && { wake }) })
  try {
    await Promise.all([
      loop('discover', deps.refreshIntervalMs, discover, lookAgain),
      loop('consume', 60_000, consume, topicList.wake),
      // So that another ingester takes a topic in time where one does not, and a run that asks for a look waits for seconds.
      loop('watch', lookEveryMs / 5, ofCluster(watchLogs)),
      loop('policies', policyPollMs, policies.refresh),
      loop('routes', policyPollMs, store.routes.refresh),
      loop('database-clock', measureClockMs, clock.measure),
      loop('note', noteIntervalMs, () => note().then(() => ({ more: false })), state.changed),
      loop(
        'candidates',
        candidatesMs,
        ofCluster((cluster) => lookAtCandidates(deps, cluster)),
      ),
      loop(
        'samples',
        samplesMs,
        ofCluster((cluster) => answerSamples({ reader, sql, log, mappings }, cluster)),
      ),
      loop(
        'origins',
        originsMs,
        ofCluster((cluster) => checkOrigins(deps, cluster)),
      ),
    ])
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

/** All that is needed to store a batch: what the ingester remembers of the database, and what it asks Kafka. */
function createStoreDeps(
  deps: IngestDeps,
  { settings, now }: { settings: ReadingSettings; now: () => Date },
): StoreDeps {
  const { reader, sql, log, payloads, maxValueBytes } = deps
  const routes = createRouteRegister(sql, { mappings: settings.mappings, mode: deps.routeMode, now: monotonicNow })
  return {
    ...{ sql, settings, routes, payloads, maxValueBytes, now },
    groups: createGroupRegister(sql, { now: monotonicNow }),
    frames: createFramesRegister(sql, { now: monotonicNow }),
    consumers: createConsumerRegister(sql, { now: monotonicNow }),
    complete: (records) => completeRecords({ ...deps, routes }, records),
    lag: createLag({ now: monotonicNow }),
    setbacks: createSetbacks(),
    decoder: payloads && createDecoder({ reader: payloads, policyOf: settings.policyOf }),
    fetchOriginals: (places) => fetchOriginals(reader, places, { log }),
    random: Math.random,
  }
}

type Handlers = Pick<ConsumeDeps, 'store' | (`on${string}` & keyof ConsumeDeps)>

type HandlerDeps = {
  store: StoreDeps
  cluster: ClusterTopics
  topicList: TopicList
  /** kafkajs fails for all topics while a deleted one is on the list, so a fault is a reason to look at once. */
  lookAgain: Wake
}

/** What a consumer calls: to store a batch, and when something has happened. */
function createHandlers(deps: IngestDeps, { store, cluster, topicList, lookAgain }: HandlerDeps): Handlers {
  const { sql, log, metrics, state } = deps
  const joined = createJoinedStore(store)
  return {
    async store(batch, options) {
      const stop = metrics.seconds.startTimer()
      const storing = spanDeadLetters(deps, batch, () => joined(batch, options))
      storing.then(state.canStore, (error: Error) => state.cannotStore(`cannot store: ${messageWithHint(error)}`))
      const outcome = await storing
      stop()
      return outcome
    },
    onFault() {
      lookAgain.notify()
      state.cannotRead('cannot read: a broker does not answer')
    },
    onFetched: state.canRead,
    onCrash(error) {
      metrics.crashes.inc()
      state.cannotRead(`cannot read: ${error.message}`)
    },
    onAnotherLeader: (batch, seen) => readFromCut(deps, batch, seen),
    async onRecreated(batch, { seenOffset, epoch }, lowOffset) {
      const { topic, partition } = batch
      await cluster.identify()
      if (cluster.id() !== batch.cluster)
        throw new DlqError('CLUSTER_CHANGED', 'the batch is of a cluster that was replaced')
      // Discovery sees it by the topic's id, for all partitions. Where Kafka has no ids, this partition starts over here.
      await cluster.discover()
      const isSame = topicList.hasId(topic)
      if (isSame && (await readFromCut(deps, batch, { seenOffset, epoch })) !== null) return
      if (!(await beginGeneration(sql, { ...batch, seen_offset: seenOffset, next_offset: lowOffset }))) return
      metrics.recreated(topic)
      log.error({ topic, partition, seenOffset, lowOffset }, 'topic_recreated')
    },
    onStored(batch, outcome) {
      metrics.stored(batch, outcome)
      logStored(log, batch, outcome)
    },
    onBehind() {
      store.groups.forget()
      store.routes.forget()
      store.consumers.forget()
    },
    onLost: ({ topic }, count) => metrics.lost(topic, count),
    onAssigned(assignment) {
      metrics.assigned(Object.keys(assignment))
      state.assigned(assignment)
    },
    onCannotRead: state.cannotRead,
  }
}
