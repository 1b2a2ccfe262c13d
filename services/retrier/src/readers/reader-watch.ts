// Looks at the consumer groups of the topics that messages are sent to, and stores what they have read. The API never
// talks to Kafka, and no run needs to: both read dlq_readers. infra/docs/verdicts.md says what follows from it.

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
  type SeenReader,
  takeLook,
} from 'dlq-core/queries/readers/reader-watch.ts'
import { countRunVerdicts, listRunsToCount, storeRunVerdicts } from 'dlq-core/queries/readers/verdicts.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { askTogether, refusalOf } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Admin } from 'kafkajs'
import { horizonOf, judgePartition } from './judge-partition.ts'

export type ReaderWatchDeps = {
  admin: Pick<Admin, 'listGroups' | 'listTopics' | 'describeGroups' | 'fetchOffsets'>
  reader: Pick<TopicReader, 'fetchLogBounds'>
  sql: Database
  log: Log
  /** How old what is stored may become. */
  everyMs: number
  /** Null: as the re-failures of late say. */
  horizonMs: number | null
  now: () => number
}

const maxTargets = 1000
const listEveryMs = 60_000
/** Of the groups that nobody has named yet, so that new readers of a topic are found within minutes. */
const strangersPerLook = 50
const groupsAtOnce = 4
const refailures = { least: 100, limit: 20_000 }
/** How long a look of an ingester may take from its first question to its last row. */
const longestLookMs = 30_000
const keepGapsDays = 30
const countedRuns = { limit: 50, days: 7 }
const countForMs = 1000

type Group = {
  id: string
  state: string
  /** By topic, the members that have partitions of it. Null: Kafka does not say. */
  members: Map<string, number> | null
  /** By topic and partition. Null: Kafka refuses. */
  offsets: Map<string, Map<number, bigint>> | null
}

/** A pass that looks, where a look is due. Several retriers share the work. */
export function createReaderWatch(deps: ReaderWatchDeps) {
  const { admin, reader, sql, log, everyMs, now } = deps
  let listedAt = Number.NEGATIVE_INFINITY
  let groupIds: string[] = []
  let topics: string[] = []
  let strangersFrom = 0

  async function listAll(): Promise<void> {
    if (now() - listedAt < listEveryMs) return
    groupIds = (await admin.listGroups()).groups.map(({ groupId }) => groupId).toSorted()
    topics = await admin.listTopics()
    listedAt = now()
    await forgetReaderGaps(sql, { days: keepGapsDays })
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
    const targets = await listTargetTopics(sql, { limit: maxTargets })
    if (targets.length > 0) {
      await listAll()
      const expected = await listExpectedReaders(sql, targets)
      const isExpected = new Set(expected.map(keyOf))
      const groups = await askGroups(deps, groupsToAsk(new Set(expected.map((of) => of.consumer_group))))
      const bounds = Map.groupBy(await askTogether(targets, reader.fetchLogBounds, log), ({ topic }) => topic)
      const stored = await listStoredUntil(sql, { topics: targets, lookMs: longestLookMs })
      const known = new Map((await listReaders(sql, targets)).map((of) => [keyOf(of), of]))
      const horizons = await readHorizons(deps, topics)
      const nowMs = now()
      const seen = targets.flatMap((topic) =>
        groups.flatMap((group) => {
          const reader = { target_topic: topic, consumer_group: group.id }
          const key = keyOf(reader)
          const before = known.get(key) ?? null
          return judgeReader(reader, group, before, {
            bounds: bounds.get(topic) ?? [],
            storedUntilMs: stored.get(topic) ?? null,
            horizonMs: horizons(reader),
            nowMs,
            isExpected: isExpected.has(key),
          })
        }),
      )
      await recordReaders(sql, { began_at: beganAt, readers: seen })
    }
    await noteLook(sql, { began_at: beganAt })
    await countRuns(deps)
    return { more: false }
  }
}

/** Counts the verdicts of runs, for some time; the next look goes on where this one ends. */
async function countRuns({ sql, now }: ReaderWatchDeps): Promise<void> {
  const beganMs = now()
  for (const runId of await listRunsToCount(sql, countedRuns)) {
    await storeRunVerdicts(sql, { runId, counts: await countRunVerdicts(sql, runId) })
    if (now() - beganMs > countForMs) return
  }
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
  const partitions = bounds.map(({ partition, log_start_offset, log_end_offset }) => {
    const row = of.get(partition) ?? null
    // What Kafka does not tell now stays as it was.
    const offset = isForbidden ? (row?.committed_offset ?? null) : (committed?.get(partition) ?? null)
    const wasEmptyTwice = state === 'Empty' && before?.state === 'Empty'
    const look = { committed_offset: offset, log_start_offset, log_end_offset, wasEmptyTwice }
    return {
      ...{ ...reader, partition, committed_offset: offset, log_start_offset, log_end_offset },
      ...judgePartition(row, { ...look, nowMs, storedUntilMs, horizonMs }),
    }
  })
  return [{ ...reader, state, members, horizonMs, partitions }]
}

async function askGroups({ admin, log }: ReaderWatchDeps, ids: readonly string[]): Promise<Group[]> {
  const described = await askTogether(ids, async (some) => (await admin.describeGroups([...some])).groups, log)
  const byId = new Map(described.map((group) => [group.groupId, group]))
  const groups: Group[] = []
  for (let at = 0; at < ids.length; at += groupsAtOnce) {
    const some = ids.slice(at, at + groupsAtOnce)
    groups.push(
      ...(await Promise.all(
        some.map(async (id) => {
          const offsets = await askOffsets(admin, id)
          const group = byId.get(id)
          // Kafka calls a group of another protocol dead, and says nothing of its members.
          const isOther = group === undefined || (group.state === 'Dead' && offsets !== null && offsets.size > 0)
          return { id, offsets, ...(isOther ? { state: 'Unknown', members: null } : describe(group)) }
        }),
      )),
    )
  }
  return groups
}

type Described = Awaited<ReturnType<Admin['describeGroups']>>['groups'][number]

function describe({ state, protocolType, members }: Described): Pick<Group, 'state' | 'members'> {
  // Others, such as Connect's workers, say in their own way who reads what.
  if (members.length > 0 && protocolType !== 'consumer') return { state, members: null }
  const counts = new Map<string, number>()
  for (const { memberAssignment } of members) {
    const assigned = kafkajs.AssignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment ?? {}
    for (const [topic, partitions] of Object.entries(assigned))
      if (partitions.length > 0) counts.set(topic, (counts.get(topic) ?? 0) + 1)
  }
  return { state, members: counts }
}

/** What the group has committed. Null where Kafka refuses to say. */
async function askOffsets(admin: ReaderWatchDeps['admin'], groupId: string): Promise<Group['offsets']> {
  try {
    // Without topics: kafkajs would keep those, and fail for all where one is deleted.
    const topics = await admin.fetchOffsets({ groupId })
    return new Map(
      topics.map(({ topic, partitions }) => [
        topic,
        new Map(
          partitions.flatMap(({ partition, offset }) => (BigInt(offset) < 0n ? [] : [[partition, BigInt(offset)]])),
        ),
      ]),
    )
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return null
  }
}

async function readHorizons({ sql, horizonMs }: ReaderWatchDeps, topics: readonly string[]) {
  if (horizonMs !== null) return () => horizonMs
  const learned = new Map((await listRefailTimes(sql, refailures)).map((of) => [keyOf(of), of.p99_ms]))
  return (reader: Reader) =>
    horizonOf({
      p99Ms: learned.get(keyOf(reader)) ?? null,
      hasRetryTopics: topics.some((topic) => topic.startsWith(`${reader.target_topic}-retry`)),
    })
}
