// What Kafka says of consumer groups, whatever protocol they follow: state, members, and how far each has come.

import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import type { GroupReader, GroupType, TypedGroup } from 'dlq-core/runtime/kafka/groups/group-reader.ts'
import type { ShareOffset } from 'dlq-core/runtime/kafka/groups/group-requests.ts'
import { askTogether, refusalOf } from 'dlq-core/runtime/kafka/refusals.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Admin } from 'kafkajs'

export type AskGroupsDeps = {
  admin: Pick<Admin, 'describeGroups' | 'fetchOffsets'>
  groups: Pick<GroupReader, 'describeConsumerGroups' | 'describeShareGroups' | 'fetchShareOffsets'>
  log: Log
}

/** By topic and partition. */
type Offsets = Map<string, Map<number, bigint>>

export type Group = {
  id: string
  type: GroupType
  state: string
  /** By topic, the members that have partitions of it. Null: Kafka does not say. */
  members: Map<string, number> | null
  /** Below these, everything was read. Null: Kafka refuses. */
  offsets: Offsets | null
}

const groupsAtOnce = 4

/** `bounds`: where the logs of the topics ended before this is asked. */
export async function askGroups(
  deps: AskGroupsDeps,
  ids: readonly string[],
  { types, bounds }: { types: ReadonlyMap<string, GroupType>; bounds: readonly LogBounds[] },
): Promise<Group[]> {
  const {
    consumer = [],
    share = [],
    others = [],
  } = Object.groupBy(ids, (id) => {
    const type = types.get(id)
    return type === 'consumer' || type === 'share' ? type : 'others'
  })
  const [classic, consumers, shares] = await Promise.all([
    describeClassic(deps, others),
    deps.groups.describeConsumerGroups(consumer),
    askShareGroups(deps, share, bounds),
  ])
  const described = new Map([...classic, ...consumers])
  const committing: Group[] = []
  const unshared = [...others, ...consumer]
  for (let at = 0; at < unshared.length; at += groupsAtOnce) {
    const some = unshared.slice(at, at + groupsAtOnce)
    committing.push(
      ...(await Promise.all(
        some.map(async (id) => {
          const offsets = await askOffsets(deps.admin, id)
          const type = types.get(id) ?? 'unknown'
          const group = described.get(id)
          // A group of another type is dead to those who take it for a classic one, and has no members.
          const isOther = group === undefined || (group.state === 'Dead' && offsets !== null && offsets.size > 0)
          return { id, type, offsets, ...(isOther ? { state: 'Unknown', members: null } : group) }
        }),
      )),
    )
  }
  return [...committing, ...shares]
}

/** By id: the state and members of classic groups. */
async function describeClassic(
  { admin, log }: AskGroupsDeps,
  ids: readonly string[],
): Promise<Map<string, Pick<Group, 'state' | 'members'>>> {
  const found = await askTogether(ids, async (some) => (await admin.describeGroups([...some])).groups, log)
  return new Map(found.map((group) => [group.groupId, describe(group)]))
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
async function askOffsets(admin: AskGroupsDeps['admin'], groupId: string): Promise<Offsets | null> {
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

/** A share group acknowledges each record by itself, and commits no offsets. */
async function askShareGroups(
  { groups }: AskGroupsDeps,
  ids: readonly string[],
  bounds: readonly LogBounds[],
): Promise<Group[]> {
  const [described, offsets] = await Promise.all([groups.describeShareGroups(ids), groups.fetchShareOffsets(ids)])
  const unknown: TypedGroup | { state: string; members: null } = { state: 'Unknown', members: null }
  return ids.map((id) => {
    const found = offsets.get(id)
    return {
      ...{ id, type: 'share' as const, ...(described.get(id) ?? unknown) },
      offsets: found === undefined ? null : doneBy(found, bounds),
    }
  })
}

/**
 * The start offset trails: it may stand at 0 although every record was acknowledged. A lag of 0 says that nothing was
 * left up to the end of the log at that time, which is at least the end that was seen before.
 */
export function doneBy(offsets: readonly ShareOffset[], bounds: readonly LogBounds[]): Offsets {
  const ends = new Map(bounds.map((of) => [`${of.topic}/${of.partition}`, of.log_end_offset]))
  const done: Offsets = new Map()
  for (const { topic, partition, start, lag } of offsets) {
    const end = lag === 0n ? (ends.get(`${topic}/${partition}`) ?? start) : start
    const ofTopic = done.get(topic) ?? new Map<number, bigint>()
    done.set(topic, ofTopic.set(partition, end > start ? end : start))
  }
  return done
}
