// What kafkajs's admin cannot tell of groups: of which type they are, and the state and members of those that are not
// classic. A broker of before Kafka 4.0 has classic groups alone, and is asked nothing here.

import type { Kafka } from 'kafkajs'
import {
  type Broker,
  brokerOf,
  type Cluster,
  createCluster,
  type ProtocolRequest,
  sendRequest,
} from '../kafkajs-internals.ts'
import { refusalOf } from '../refusals.ts'
import {
  consumerGroupApi,
  type DescribedGroup,
  describeConsumerGroupsRequest,
  describeShareGroupsRequest,
  type ListedGroup,
  listGroupsApi,
  listGroupsRequest,
  type ShareOffsets,
  shareGroupApi,
  shareOffsetsApi,
  shareOffsetsRequest,
} from './group-requests.ts'

/** `unknown`: the broker does not say; before Kafka 3.8 it knows no other than classic ones. */
export type GroupType = 'classic' | 'consumer' | 'share' | 'streams' | 'unknown'

export type TypedGroup = {
  state: string /** By topic, the members that have partitions of it. */
  members: Map<string, number>
}

export type GroupReader = {
  /** Group → type, of all brokers. */
  listTypes(): Promise<Map<string, GroupType>>
  /** Of groups of KIP-848, without those that Kafka does not know as such, or refuses. */
  describeConsumerGroups(ids: readonly string[]): Promise<Map<string, TypedGroup>>
  /** The same of share groups. */
  describeShareGroups(ids: readonly string[]): Promise<Map<string, TypedGroup>>
  /** Of share groups: how far each has come, by topic and partition. Without those that Kafka refuses. */
  fetchShareOffsets(ids: readonly string[]): Promise<Map<string, ShareOffsets['offsets']>>
  disconnect(): Promise<void>
}

/** Connects at the first request. Its creator disconnects it. */
export function createGroupReader(kafka: Kafka): GroupReader {
  const cluster = createCluster(kafka)
  return {
    listTypes: () => listTypes(cluster),
    describeConsumerGroups: (ids) => describe(cluster, ids, consumerGroupApi, describeConsumerGroupsRequest),
    describeShareGroups: (ids) => describe(cluster, ids, shareGroupApi, describeShareGroupsRequest),
    async fetchShareOffsets(ids) {
      const found = await askCoordinators(cluster, ids, shareOffsetsApi, shareOffsetsRequest)
      return new Map(found.flatMap(({ id, errorCode, offsets }) => (errorCode === 0 ? [[id, offsets]] : [])))
    },
    disconnect: () => cluster.disconnect(),
  }
}

const types: readonly string[] = ['classic', 'consumer', 'share', 'streams'] satisfies GroupType[]

async function listTypes(cluster: Cluster): Promise<Map<string, GroupType>> {
  await cluster.connect()
  await cluster.refreshMetadata()
  const brokers = await Promise.all(cluster.getNodeIds().map((nodeId) => brokerOf(cluster, Number(nodeId))))
  const lists = await Promise.all(
    brokers.map(async (broker): Promise<ListedGroup[]> => {
      if (!supports(broker, listGroupsApi)) return []
      return (await sendRequest(broker, listGroupsRequest())).groups
    }),
  )
  return new Map(lists.flat().map(({ id, type }) => [id, types.includes(type) ? (type as GroupType) : 'unknown']))
}

async function describe(
  cluster: Cluster,
  ids: readonly string[],
  api: { key: number; version: number },
  request: (ids: readonly string[]) => ProtocolRequest<DescribedGroup[]>,
): Promise<Map<string, TypedGroup>> {
  const found = await askCoordinators(cluster, ids, api, request)
  return new Map(
    found.flatMap(({ id, errorCode, state, assigned }) => {
      if (errorCode !== 0) return []
      const members = new Map<string, number>()
      for (const topics of assigned)
        for (const topic of new Set(topics)) members.set(topic, (members.get(topic) ?? 0) + 1)
      return [[id, { state, members }] as const]
    }),
  )
}

/** One request to each coordinator. */
async function askCoordinators<T>(
  cluster: Cluster,
  ids: readonly string[],
  api: { key: number; version: number },
  request: (ids: readonly string[]) => ProtocolRequest<T[]>,
): Promise<T[]> {
  if (ids.length === 0) return []
  if (cluster.getNodeIds().length === 0) await cluster.connect()
  const led = (await Promise.all(ids.map((groupId) => coordinatorOf(cluster, groupId)))).flat()
  const answers = await Promise.all(
    Array.from(
      Map.groupBy(led, ({ broker }) => broker),
      ([broker, groups]) => {
        if (!supports(broker, api)) return []
        return sendRequest(broker, request(groups.map(({ groupId }) => groupId)))
      },
    ),
  )
  return answers.flat()
}

/** None where Kafka may not say. */
async function coordinatorOf(cluster: Cluster, groupId: string): Promise<{ groupId: string; broker: Broker }[]> {
  try {
    return [{ groupId, broker: await cluster.findGroupCoordinator({ groupId }) }]
  } catch (error) {
    if (refusalOf(error) === null) throw error
    return []
  }
}

function supports(broker: Broker, { key, version }: { key: number; version: number }): boolean {
  const known = broker.versions?.[key]
  return known !== undefined && known.minVersion <= version && known.maxVersion >= version
}
