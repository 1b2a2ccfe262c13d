// The ids that Kafka gives topics since 2.8 (KIP-516); they tell a topic from a deleted one of the same name.
// kafkajs asks for metadata in version 6 at most, which has none, so this is a request of our own:
// https://kafka.apache.org/protocol.html#The_Messages_Metadata, version 10.

import { anyBroker, type Cluster, Decoder, Encoder, type ProtocolRequest, sendRequest } from '../kafkajs-internals.ts'

const metadataApiKey = 3
const apiVersion = 10
const noUuid = Buffer.alloc(16)

/** Topic → its id, in base64 as Kafka prints it. Without the topics that failed; empty before Kafka 2.8. */
export async function fetchTopicIds(cluster: Cluster, topics: readonly string[]): Promise<Map<string, string>> {
  // An empty list would ask for all topics of the cluster.
  if (topics.length === 0) return new Map()
  const broker = await anyBroker(cluster)
  if ((broker.versions?.[metadataApiKey]?.maxVersion ?? 0) < apiVersion) return new Map()
  const found = await sendRequest(broker, topicIdsRequest(topics))
  return new Map(found.filter(({ errorCode }) => errorCode === 0).map(({ topic, topicId }) => [topic, topicId]))
}

type FoundTopic = { errorCode: number; topic: string; topicId: string }

function topicIdsRequest(topics: readonly string[]): ProtocolRequest<FoundTopic[]> {
  return {
    request: { apiKey: metadataApiKey, apiVersion, apiName: 'Metadata', encode: async () => encodeRequest(topics) },
    // A topic that fails must not keep the others' ids from the caller, so nothing is thrown here.
    response: { decode: async (rawData) => decodeResponse(rawData), parse: async (found) => found },
  }
}

/**
 * TAG_BUFFER [topics] allow_auto_topic_creation include_cluster_authorized_operations
 * include_topic_authorized_operations TAG_BUFFER
 *   topics => topic_id name TAG_BUFFER
 */
function encodeRequest(topics: readonly string[]): Encoder {
  const encodeTopic = (topic: string) => new Encoder().writeBuffer(noUuid).writeUVarIntString(topic).writeUVarIntBytes()
  return new Encoder()
    .writeUVarIntBytes()
    .writeUVarIntArray(topics.map(encodeTopic))
    .writeBoolean(false)
    .writeBoolean(false)
    .writeBoolean(false)
    .writeUVarIntBytes()
}

/**
 * TAG_BUFFER throttle_time_ms [brokers] cluster_id controller_id [topics] cluster_authorized_operations TAG_BUFFER
 *   brokers => node_id host port rack TAG_BUFFER
 *   topics => error_code name topic_id is_internal [partitions] topic_authorized_operations TAG_BUFFER
 *   partitions => error_code partition_index leader_id leader_epoch [replica_nodes] [isr_nodes] [offline_replicas] TAG_BUFFER
 */
function decodeResponse(rawData: Buffer): FoundTopic[] {
  const decoder = new Decoder(rawData)
  decoder.readTaggedFields()
  decoder.readInt32()
  decoder.readUVarIntArray(skipBroker)
  decoder.readUVarIntString()
  decoder.readInt32()
  return decoder.readUVarIntArray(decodeTopic) ?? []
}

function skipBroker(decoder: Decoder): void {
  decoder.readInt32()
  decoder.readUVarIntString()
  decoder.readInt32()
  decoder.readUVarIntString()
  decoder.readTaggedFields()
}

function skipPartition(decoder: Decoder): void {
  decoder.readInt16()
  for (let numbers = 0; numbers < 3; numbers++) decoder.readInt32()
  for (let lists = 0; lists < 3; lists++) decoder.readUVarIntArray((decoder) => decoder.readInt32())
  decoder.readTaggedFields()
}

function decodeTopic(decoder: Decoder): FoundTopic {
  const errorCode = decoder.readInt16()
  const topic = decoder.readUVarIntString() ?? ''
  const topicId = decoder.readBytes(16).toString('base64url')
  decoder.readBoolean()
  decoder.readUVarIntArray(skipPartition)
  decoder.readInt32()
  decoder.readTaggedFields()
  return { errorCode, topic, topicId }
}
