// Who leads a partition, and what to do where that has changed: shared by the questions that only a leader answers.

import {
  anyBroker,
  type Broker,
  brokerOf,
  type Cluster,
  isLeaderChange,
  LeaderlessPartition,
  metadataOf,
} from '../kafkajs-internals.ts'

/** Asks once more where a partition's leader has moved, or is away. */
export function askAgain<T>(cluster: Cluster, ask: () => Promise<T>): Promise<T> {
  return cluster.retrier(async (bail) => {
    try {
      return await ask()
    } catch (error) {
      if (isLeaderChange(error)) throw error
      bail(error)
      return undefined
    }
  })
}

/**
 * The broker that leads the partition, connected; null where there is no such partition.
 *
 * @throws LeaderlessPartition
 */
export async function findLeader(
  cluster: Cluster,
  { topic, partition }: { topic: string; partition: number },
): Promise<Broker | null> {
  const [found] = await metadataOf(await anyBroker(cluster), [topic])
  const metadata = found?.partitionMetadata.find(({ partitionId }) => partitionId === partition)
  if (metadata === undefined) return null
  if (metadata.leader < 0) throw new LeaderlessPartition({ topic, partition })
  return brokerOf(cluster, metadata.leader)
}
