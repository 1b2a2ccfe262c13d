// Which member of the group reads which partition. Members may read different topics: while a new topic is known to some
// of them only, while their settings are replaced one after the other, and where two deployments have the same group.
// The assigner of kafkajs gives the leader's topics to all members. Those that do not read a topic drop their part of it,
// and nobody reads that part, nor topics that the leader does not read.

import { setTimeout as sleep } from 'node:timers/promises'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type PartitionAssigner } from 'kafkajs'
import { encodeMember, type Member, memberVersion, readMember } from './group-members.ts'

/** That of kafkajs, so that members with its assigner may be in the group. */
const name = 'RoundRobinAssigner'
/** While the leader asks, all members wait, and it sends no heartbeat: less than its session. */
const patienceMs = 2000
/** Of the topics that a log line names. */
const maxNamed = 20

export type AssignDeps = {
  ingesterId: string
  reader: Pick<TopicReader, 'fetchPartitions'>
  /** The ids of those that belong to another deployment. */
  findStrangers: (members: readonly Member[]) => Promise<ReadonlySet<string>>
  log: Log
}

/** For a consumer of kafkajs: gives each partition to a member that reads its topic, and to each as many as to the others. */
export function assignToReaders({ ingesterId, reader, findStrangers, log }: AssignDeps): PartitionAssigner {
  return ({ cluster, groupId }) => ({
    name,
    version: memberVersion,
    protocol: ({ topics }) => ({ name, metadata: encodeMember({ topics, ingesterId }) }),
    async assign({ members: given, topics }) {
      const members = new Map(given.map(({ memberId, memberMetadata }) => [memberId, readMember(memberMetadata)]))
      const said = [...members.values()]
      const others = new Set(said.flatMap(({ topics: read }) => [...read])).difference(new Set(topics))
      const [strangers, found] = await Promise.all([
        soon(findStrangers(said), {
          otherwise: new Set<string>(),
          onFault: (error) => log.warn({ groupId, error }, 'strangers_look_failed'),
        }),
        soon(askTogether([...others], reader.fetchPartitions, log), { otherwise: [] }),
      ])
      const unread = others.difference(new Set(found.map(({ topic }) => topic)))
      if (unread.size > 0) log.warn({ groupId, topics: [...unread].slice(0, maxNamed) }, 'topics_of_others_unread')
      const own = topics.flatMap((topic) =>
        cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ topic, partition: partitionId })),
      )
      const shares = shareOut([...own, ...found], { members, strangers })
      return Array.from(shares, ([memberId, assignment]) => ({
        memberId,
        memberAssignment: kafkajs.AssignerProtocol.MemberAssignment.encode({
          ...{ version: memberVersion, assignment, userData: Buffer.alloc(0) },
        }),
      }))
    },
  })
}

type Soon<T> = {
  /** What the answer would be if nobody were asked. */
  otherwise: T
  onFault?: (error: unknown) => void
}

/** The answer, if it comes in time. */
async function soon<T>(asked: Promise<T>, { otherwise, onFault = () => {} }: Soon<T>): Promise<T> {
  const late = async (): Promise<never> => {
    await sleep(patienceMs, null, { ref: false })
    throw new Error(`no answer within ${patienceMs} ms`)
  }
  try {
    return await Promise.race([asked, late()])
  } catch (error) {
    onFault(error)
    return otherwise
  }
}

/**
 * Gives each partition to the member with the fewest partitions, of those that read its topic. Strangers get only topics
 * that nobody else reads.
 *
 * @returns the partitions of each topic, by the member's id; without members that get none
 */
export function shareOut(
  partitions: readonly { topic: string; partition: number }[],
  { members, strangers }: { members: ReadonlyMap<string, Member>; strangers: ReadonlySet<string> },
): Map<string, Record<string, number[]>> {
  const ids = [...members.keys()].toSorted()
  const counts = new Map(ids.map((id) => [id, 0]))
  const shares = new Map<string, Record<string, number[]>>()
  for (const [topic, ofTopic] of Map.groupBy(partitions, ({ topic }) => topic)) {
    const reading = ids.filter((id) => members.get(id)!.topics.has(topic))
    const ours = reading.filter((id) => !strangers.has(members.get(id)!.ingesterId ?? ''))
    const readers = ours.length > 0 ? ours : reading
    if (readers.length === 0) continue
    for (const { partition } of ofTopic) {
      const reader = readers.reduce((fewest, id) => (counts.get(id)! < counts.get(fewest)! ? id : fewest))
      counts.set(reader, counts.get(reader)! + 1)
      const share = shares.get(reader) ?? Object.create(null)
      shares.set(reader, share)
      share[topic] ??= []
      share[topic].push(partition)
    }
  }
  return shares
}
