// The parts of kafkajs that its own clients are made of, with types that say what we use of them.
// kafkajs keeps them to itself; the version is pinned and patched, so they are the same at every install.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import kafkajs, { type Kafka, type KafkaMessage } from 'kafkajs'

const require = createRequire(import.meta.url)

/** Connections to all brokers of a cluster, opened when they are needed. */
export type Cluster = {
  connect(): Promise<void>
  disconnect(): Promise<void>
  /** The brokers that it knows by now. */
  getNodeIds(): string[]
  /** Throws KafkaJSBrokerNotFound where it does not know the broker, but then asks Kafka for the brokers first. */
  findBroker(wanted: { nodeId: number }): Promise<Broker>
  /** Throws KafkaJSProtocolError where Kafka refuses, KafkaJSGroupCoordinatorNotFound where it has none. */
  findGroupCoordinator(wanted: { groupId: string }): Promise<Broker>
  refreshMetadata(): Promise<void>
  brokerPool: { findConnectedBroker(): Promise<Broker> }
  /** Runs the attempt again after an error that may pass, as the client's settings say; `bail` rejects at once. */
  retrier<T>(attempt: (bail: (error: unknown) => void) => Promise<T | undefined>): Promise<T>
}

/** One request each. An error in the response is thrown as a KafkaJSProtocolError. */
export type Broker = {
  /** By the number of the API in Kafka's protocol; null before the broker is connected. */
  versions: Record<number, { minVersion: number; maxVersion: number }> | null
  /** Use `metadataOf`. */
  metadata(topics: readonly string[]): Promise<{ topicMetadata: TopicMetadata[] }>
  listOffsets(request: {
    isolationLevel: number
    topics: { topic: string; partitions: { partition: number; timestamp: number }[] }[]
  }): Promise<{ responses: { topic: string; partitions: { partition: number; offset: unknown }[] }[] }>
  fetch(request: {
    isolationLevel: number
    maxWaitTime: number
    minBytes: number
    maxBytes: number
    topics: { topic: string; partitions: { partition: number; fetchOffset: string; maxBytes: number }[] }[]
  }): Promise<{ responses: { partitions: FetchedPartition[] }[] }>
}

type TopicMetadata = { topic: string; partitionMetadata: { partitionId: number; leader: number }[] }
/** Only ever handed from a fetch to `Batch`. */
type FetchedPartition = { partition: number; highWatermark: string }

/** The result of one fetch for one partition. */
export type Batch = {
  /** The committed messages at or after the offset asked for. */
  messages: KafkaMessage[]
  /** These, those before the offset, aborted ones, and markers of transactions. */
  rawMessages: readonly { offset: string; isControlRecord: boolean }[]
  highWatermark: string
  lastOffset(): string
}

/** A request of Kafka's protocol and how to read its response. */
export type ProtocolRequest<Decoded, T = Decoded> = {
  request: { apiKey: number; apiVersion: number; apiName: string; encode: () => Promise<Encoder> }
  response: { decode: (rawData: Buffer) => Promise<Decoded>; parse: (decoded: Decoded) => Promise<T> }
}

export type Encoder = {
  writeInt32(value: number): Encoder
  writeString(value: string): Encoder
  writeArray(items: Encoder[]): Encoder
  writeBuffer(bytes: Buffer): Encoder
  writeBoolean(value: boolean): Encoder
  writeUVarIntString(value: string): Encoder
  /** Without a value it writes a zero byte, which is also how an empty list of tagged fields begins and ends. */
  writeUVarIntBytes(value?: Buffer): Encoder
  /** Null where the protocol allows it, which means all. */
  writeUVarIntArray(items: Encoder[] | null): Encoder
}

export type Decoder = {
  readInt8(): number
  readInt16(): number
  readInt32(): number
  /** A Long, whose text is decimal. */
  readInt64(): unknown
  readBoolean(): boolean
  readBytes(length: number): Buffer
  readString(): string
  readArray<T>(read: (decoder: Decoder) => T): T[]
  readUVarIntString(): string | null
  readUVarIntArray<T>(read: (decoder: Decoder) => T): T[] | null
  readTaggedFields(): unknown
}

export const Batch: new (
  topic: string,
  fetchedOffset: string,
  partition: FetchedPartition,
) => Batch = require('kafkajs/src/consumer/batch')
export const createErrorFromCode: (code: number) => Error = require('kafkajs/src/protocol/error').createErrorFromCode
export const Encoder: new () => Encoder = require('kafkajs/src/protocol/encoder')
export const Decoder: new (rawData: Buffer) => Decoder = require('kafkajs/src/protocol/decoder')
export const isolationLevel: {
  READ_UNCOMMITTED: number
  READ_COMMITTED: number
} = require('kafkajs/src/protocol/isolationLevel')
export const { EARLIEST_OFFSET: earliest, LATEST_OFFSET: latest }: { EARLIEST_OFFSET: number; LATEST_OFFSET: number } =
  require('kafkajs/src/constants')

const decoding: { options: { late: boolean } } = require('kafkajs/src/protocol/recordBatch/record/v0/decoder')

/**
 * From now on the messages that this process reads have `headerPairs` alone, and no `headers`, which cost a KB each. Key,
 * value and pairs are read from their bytes each time that somebody asks for them, and `size` is that of all bytes.
 */
export function readMessagesLate(): void {
  decoding.options.late = true
}

/** A cluster with the settings and the log of the client, made as its own admin makes one; not connected yet. */
export function createCluster(kafka: Kafka): Cluster {
  const create = privateMember<(options: object) => Cluster>(kafka, 'private:Kafka:createCluster')
  return create({ allowAutoTopicCreation: false })
}

/** A broker that is connected, whichever it is. */
export async function anyBroker(cluster: Cluster): Promise<Broker> {
  // Concurrent calls share this first connection. Without it, each would open another one below.
  if (cluster.getNodeIds().length === 0) await cluster.connect()
  return cluster.brokerPool.findConnectedBroker()
}

/** The broker of this number, connected. @throws KafkaJSBrokerNotFound where Kafka does not know it */
export async function brokerOf(cluster: Cluster, nodeId: number): Promise<Broker> {
  try {
    return await cluster.findBroker({ nodeId })
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSBrokerNotFound)) throw error
    // By now kafkajs has asked Kafka for the brokers.
    return cluster.findBroker({ nodeId })
  }
}

/**
 * The partitions of topics, with -1 for the leader of one that has none. An empty list asks for all topics of the cluster.
 *
 * @throws KafkaJSProtocolError where Kafka refuses one of the topics (deleted, forbidden)
 */
export async function metadataOf(broker: Broker, topics: readonly string[]): Promise<TopicMetadata[]> {
  try {
    return (await broker.metadata(topics)).topicMetadata
  } catch (error) {
    const { metadata } = error as { metadata?: { topicMetadata: TopicMetadata[] } }
    if (metadata === undefined) throw error
    return metadata.topicMetadata
  }
}

const leaderNotAvailable = 5

/** All replicas of the partition are away. Unlike after a change of leaders, it is of no use to ask again soon. */
export class LeaderlessPartition extends kafkajs.KafkaJSProtocolError {
  constructor({ topic, partition }: { topic: string; partition: number }) {
    const error = createErrorFromCode(leaderNotAvailable)
    super(Object.assign(error, { message: `partition ${partition} of ${topic} has no leader` }))
  }
}

const movedLeader = ['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION']
const lostBroker = ['KafkaJSBrokerNotFound', 'KafkaJSConnectionError', 'KafkaJSConnectionClosedError']

/** Whether the partition's leader has moved or is away: the same request may succeed a moment later. */
export function isLeaderChange(error: unknown): boolean {
  if (error instanceof LeaderlessPartition) return false
  if (error instanceof kafkajs.KafkaJSProtocolError) return movedLeader.includes(error.type)
  return error instanceof Error && lostBroker.includes(error.name)
}

/** Sends a request that kafkajs does not have. */
export function sendRequest<Decoded, T>(broker: Broker, request: ProtocolRequest<Decoded, T>): Promise<T> {
  const send = privateMember<(request: ProtocolRequest<Decoded, T>) => Promise<T>>(
    Object.getPrototypeOf(broker),
    'private:Broker:sendRequest',
  )
  return send.call(broker, request)
}

function privateMember<T>(holder: object, name: string): T {
  const key = Object.getOwnPropertySymbols(holder).find(({ description }) => description === name)
  assert(key, `kafkajs has no ${name}: it is not the version that this was written for`)
  return (holder as Record<symbol, unknown>)[key] as T
}
