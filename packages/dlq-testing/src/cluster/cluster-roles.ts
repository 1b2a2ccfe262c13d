// Which broker of a cluster has which role now.
import kafkajs, { type Admin, type Kafka } from 'kafkajs'

/** The topics that hold the coordinators' state: who leads one of their partitions coordinates what is kept there. */
export const coordinatorTopics = { group: '__consumer_offsets', transaction: '__transaction_state' } as const

/** Who asks which broker leads: it may meet one that is frozen, and then asks another soon. */
export function createWatcher(brokers: readonly string[]): Kafka {
  return new kafkajs.Kafka({
    clientId: 'watcher',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 1000,
    requestTimeout: 1500,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 20 },
  })
}

/** The broker that leads a partition; -1 where none does. */
export async function leaderOf(admin: Admin, topic: string, partition: number): Promise<number> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  return topics[0]?.partitions.find(({ partitionId }) => partitionId === partition)?.leader ?? -1
}

/** The partition of a coordinators' topic that keeps a group or a transactional id (Kafka's Utils.abs of Java's hash). */
export async function coordinatorPartition(
  admin: Admin,
  { kind, id }: { kind: keyof typeof coordinatorTopics; id: string },
): Promise<{ topic: string; partition: number }> {
  const topic = coordinatorTopics[kind]
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  return { topic, partition: (javaHash(id) & 0x7fffffff) % topics[0]!.partitions.length }
}

/** Topics → their partitions that have no leader, or fewer replicas in sync than `replicas`. */
export async function countBehind(admin: Admin, topics: readonly string[], replicas: number): Promise<number> {
  const metadata = await admin.fetchTopicMetadata({ topics: [...topics] })
  const partitions = metadata.topics.flatMap((topic) => topic.partitions)
  return partitions.filter(({ leader, isr }) => leader < 0 || isr.length < replicas).length
}

/** String.hashCode. */
function javaHash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i += 1) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0
  return hash
}
