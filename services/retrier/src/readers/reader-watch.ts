// Looks at the consumer groups of the topics that messages are sent to, and stores what they have read. The API never
// talks to Kafka, and no run needs to: both read dlq_readers. infra/docs/verdicts.md says what follows from it.

import { listWatchedForReaders, recordCandidateReaders } from 'dlq-core/queries/discovery/candidates.ts'
import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import {
  forgetReaderGaps,
  type KnownReader,
  keyOf,
  listExpectedReaders,
  listReaders,
  listRefailTimes,
  listStoredUntil,
  listTargetTopics,
  noteLook,
  type Reader,
  recordReaders,
  recordVerdictGroups,
  type SeenReader,
  takeLook,
} from 'dlq-core/queries/readers/reader-watch.ts'
import { followTopicIds, listFollowedTopics } from 'dlq-core/queries/readers/target-topics.ts'
import { readDatabaseClock } from 'dlq-core/queries/upkeep/clock.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { GroupReader, GroupType } from 'dlq-core/runtime/kafka/groups/group-reader.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import type { Admin } from 'kafkajs'
import { askGroups, type Group } from './ask-groups.ts'
import { horizonOf, judgePartition } from './judge-partition.ts'
import { noRates, ratesOf } from './reader-rates.ts'
import { createRunCounter } from './run-counter.ts'
import { createVerdictCounter, type VerdictMetrics } from './verdict-counter.ts'

export type ReaderWatchDeps = {
  admin: Pick<Admin, 'listGroups' | 'listTopics' | 'describeGroups' | 'fetchOffsets'>
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchTopicIds'>
  groups: Omit<GroupReader, 'disconnect'>
  policies: Pick<PolicySource, 'load' | 'policyOf'>
  sql: Database
  log: Log
  metrics: VerdictMetrics
  /** The consumer group of the ingesters, which reads DLQ topics. */
  ownGroup: string
  /** How old what is stored may become. */
  everyMs: number
  /** Where the policy says none. Null: as the re-failures of late say. */
  horizonMs: number | null
  /** How long the archive keeps messages. Without its gap, what was jumped over would count as read. */
  archiveRetentionMs: number
  now: () => number
}

const maxTargets = 1000
const listEveryMs = 60_000
/** Of the groups that nobody has named yet, so that new readers of a topic are found within minutes. */
const strangersPerLook = 50
const refailures = { least: 100, limit: 20_000 }
/** How long a look of an ingester may take from its first question to its last row. */
const longestLookMs = 30_000
const dayMs = 86_400_000
/** How long messages stay live, unless their policy says longer. */
const liveMs = 366 * dayMs

/** A pass that looks, where a look is due. Several retriers share the work. */
export function createReaderWatch(deps: ReaderWatchDeps) {
  const { admin, reader, sql, log, policies, everyMs, now } = deps
  const counter = createVerdictCounter(deps)
  const countRuns = createRunCounter(deps)
  let listedAt = Number.NEGATIVE_INFINITY
  let groupIds: string[] = []
  let types: ReadonlyMap<string, GroupType> = new Map()
  let topics: string[] = []
  let strangersFrom = 0

  async function listAll(): Promise<void> {
    if (now() - listedAt < listEveryMs) return
    groupIds = (await admin.listGroups()).groups.map(({ groupId }) => groupId).toSorted()
    types = await deps.groups.listTypes()
    topics = await admin.listTopics()
    listedAt = now()
    await forgetReaderGaps(sql, { days: Math.ceil((liveMs + deps.archiveRetentionMs) / dayMs) })
  }

  /** The named groups, and some others in turn. */
  function groupsToAsk(named: ReadonlySet<string>): string[] {
    const others = groupIds.filter((id) => !named.has(id))
    if (strangersFrom >= others.length) strangersFrom = 0
    const some = others.slice(strangersFrom, strangersFrom + strangersPerLook)
    strangersFrom += strangersPerLook
    return [...named, ...some]
  }

  return async function look(): Promise<{ more: boolean }> {
    const beganAt = await takeLook(sql, { everyMs })
    if (beganAt === null) return { more: false }
    let before: string | null
    const targets = await listTargetTopics(sql, { limit: maxTargets })
    // A dead letter that names a place finds archived attempts too, so their topics are followed for as long.
    const followed = new Set([...targets, ...(await listFollowedTopics(sql, { limit: maxTargets }))])
    const beside = new Set(await listWatchedForReaders(sql, { limit: maxTargets }))
    if (followed.size > 0 || beside.size > 0) {
      await listAll()
      await policies.load()
      const judges = verdictGroups(deps, targets)
      const expected = [...(await listExpectedReaders(sql, targets)), ...judges]
      const isExpected = new Set(expected.map(keyOf))
      // The ids first. A topic may be deleted and created again between the questions; then the next look finds it.
      const ids = await reader.fetchTopicIds([...followed])
      const logs = await askTogether(targets, reader.fetchLogBounds, log)
      const bounds = Map.groupBy(logs, ({ topic }) => topic)
      const asked = groupsToAsk(new Set(expected.map((of) => of.consumer_group)))
      const groups = await askGroups(deps, asked, { types, bounds: logs })
      await recordCandidateReaders(sql, readersOf(groups, beside, deps.ownGroup))
      const storedUntil = await listStoredUntil(sql, { topics: targets, lookMs: longestLookMs })
      const horizons = await readHorizons(deps, topics)
      // What ingesters have stored is known by the database's clock.
      const nowMs = await readDatabaseClock(sql)
      // One transaction. A retrier that dies in between would leave the new id beside what groups had read of the old topic.
      const stored = await sql.begin(async (sql) => {
        const noted = await noteLook(sql, { began_at: beganAt })
        if (noted === null) return null
        const others = await followTopicIds(sql, ids)
        const known = new Map((await listReaders(sql, targets)).map((of) => [keyOf(of), of]))
        const seen = targets.flatMap((topic) =>
          groups.flatMap((group) => {
            const reader = { target_topic: topic, consumer_group: group.id }
            const key = keyOf(reader)
            return judgeReader(reader, group, known.get(key) ?? null, {
              bounds: bounds.get(topic) ?? [],
              storedUntilMs: storedUntil.get(topic) ?? null,
              horizonMs: horizons(reader),
              nowMs,
              isExpected: isExpected.has(key),
            })
          }),
        )
        await recordReaders(sql, { began_at: beganAt, readers: seen })
        await recordVerdictGroups(sql, { topics: targets, judges })
        return { seen, known, others, noted }
      })
      if (stored === null) return { more: false }
      for (const topic of stored.others) log.info({ topic }, 'target_topic_recreated')
      counter.add(stored.seen, stored.known)
      before = stored.noted.before
    } else before = (await noteLook(sql, { began_at: beganAt }))?.before ?? null
    await countRuns()
    await counter.count({ after: before, until: beganAt })
    return { more: false }
  }
}

/** Who else reads candidates and DLQ topics: a handler of dead letters, or a consumer that somebody made by hand. */
function readersOf(groups: readonly Group[], topics: ReadonlySet<string>, ownGroup: string) {
  return groups.flatMap(({ id, offsets }) =>
    id === ownGroup || offsets === null
      ? []
      : [...offsets.keys()].flatMap((topic) => (topics.has(topic) ? [{ topic, consumer_group: id }] : [])),
  )
}

type Found = {
  bounds: readonly LogBounds[]
  storedUntilMs: number | null
  horizonMs: number
  nowMs: number
  isExpected: boolean
}

/** Nothing where the group has nothing to do with the topic. */
function judgeReader(reader: Reader, group: Group, before: KnownReader | null, found: Found): SeenReader[] {
  const { bounds, storedUntilMs, horizonMs, nowMs } = found
  const committed = group.offsets?.get(reader.target_topic)
  const members = group.members === null ? null : (group.members.get(reader.target_topic) ?? 0)
  const isForbidden = group.offsets === null
  const reads = committed !== undefined || (members ?? 0) > 0
  if (!reads && before === null && !(isForbidden && found.isExpected)) return []
  const state = isForbidden ? 'not_allowed' : group.state
  const of = new Map(before?.partitions.map((row) => [row.partition, row]))
  const partitions = bounds.map(({ partition, log_start_offset, log_end_offset: seenEnd }) => {
    const row = of.get(partition) ?? null
    // What Kafka does not tell now stays as it was.
    const offset = isForbidden ? (row?.committed_offset ?? null) : (committed?.get(partition) ?? null)
    // The bounds were asked for first; the log may have grown since, and the group have read that.
    const log_end_offset = offset !== null && offset > seenEnd ? offset : seenEnd
    const wasEmptyTwice = state === 'Empty' && before?.state === 'Empty'
    const look = { committed_offset: offset, log_start_offset, log_end_offset, wasEmptyTwice }
    return {
      ...{ ...reader, partition, committed_offset: offset, log_start_offset, log_end_offset },
      ...judgePartition(row, { ...look, nowMs, storedUntilMs, horizonMs }),
    }
  })
  const has_commits = partitions.some(({ committed_offset: offset }) => offset !== null)
  const sum = (read: (of: (typeof partitions)[number]) => bigint) =>
    partitions.reduce((all, of) => all + Number(read(of)), 0)
  const rates = ratesOf(before?.rates ?? noRates, {
    read: sum((of) => of.committed_offset ?? of.log_start_offset),
    written: sum((of) => of.log_end_offset),
    nowMs,
  })
  return [{ ...reader, type: group.type, state, members, has_commits, horizonMs, rates, partitions }]
}

/** Who judges where the group of an attempt is not known, by the policies of the topics. */
function verdictGroups({ policies }: ReaderWatchDeps, topics: readonly string[]): Reader[] {
  return topics.flatMap((topic) => {
    const { verdictGroup } = policies.policyOf({ original_topic: topic, dlq_topic: null })
    return verdictGroup === null ? [] : [{ target_topic: topic, consumer_group: verdictGroup }]
  })
}

async function readHorizons({ sql, horizonMs, policies }: ReaderWatchDeps, topics: readonly string[]) {
  const saidOf = ({ target_topic }: Reader) =>
    policies.policyOf({ original_topic: target_topic, dlq_topic: null }).verdictHorizonMs ?? horizonMs
  const learned = new Map((await listRefailTimes(sql, refailures)).map((of) => [keyOf(of), of.p99_ms]))
  return (reader: Reader) =>
    saidOf(reader) ??
    horizonOf({
      p99Ms: learned.get(keyOf(reader)) ?? null,
      hasRetryTopics: topics.some((topic) => topic.startsWith(`${reader.target_topic}-retry`)),
    })
}
