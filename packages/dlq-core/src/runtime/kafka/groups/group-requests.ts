// Requests about groups that kafkajs does not have. Its DescribeGroups calls every group but a classic one Dead, without
// members and without an error; these say what type a group is of, and describe the other types:
// https://kafka.apache.org/protocol.html, ListGroups 5, ConsumerGroupDescribe 0, ShareGroupDescribe 1,
// DescribeShareGroupOffsets 1. All of them are flexible versions: each structure ends with tagged fields.

import { Decoder, Encoder, type ProtocolRequest } from '../kafkajs-internals.ts'

export const listGroupsApi = { key: 16, version: 5 }
export const consumerGroupApi = { key: 69, version: 0 }
export const shareGroupApi = { key: 77, version: 1 }
export const shareOffsetsApi = { key: 90, version: 1 }

/** With the error of the broker as a whole; 0: none. */
export type Listed = { errorCode: number; groups: ListedGroup[] }
/** `type`: classic, consumer, share or streams, in small letters. */
export type ListedGroup = { id: string; state: string; type: string }

/** `assigned`: of each member, the topics that it has partitions of. */
export type DescribedGroup = { errorCode: number; id: string; state: string; assigned: string[][] }

/** Everything below `start` is done, and `lag` records from there on are not; -1: the broker does not know. */
export type ShareOffset = { topic: string; partition: number; start: bigint; lag: bigint }
export type ShareOffsets = { errorCode: number; id: string; offsets: ShareOffset[] }

/** TAG_BUFFER [states] [types] TAG_BUFFER */
export function listGroupsRequest(): ProtocolRequest<Listed> {
  const encode = () => new Encoder().writeUVarIntBytes().writeUVarIntArray([]).writeUVarIntArray([]).writeUVarIntBytes()
  return requestOf(listGroupsApi, 'ListGroups', encode, decodeListed)
}

/** TAG_BUFFER throttle_time_ms error_code [groups => group_id protocol_type state type TAG_BUFFER] TAG_BUFFER */
function decodeListed(decoder: Decoder): Listed {
  decoder.readInt32()
  const errorCode = decoder.readInt16()
  const groups = readList(decoder, () => {
    const id = readText(decoder)
    decoder.readUVarIntString()
    const group = { id, state: readText(decoder), type: readText(decoder).toLowerCase() }
    decoder.readTaggedFields()
    return group
  })
  return { errorCode, groups }
}

/** Groups of KIP-848. */
export function describeConsumerGroupsRequest(ids: readonly string[]): ProtocolRequest<DescribedGroup[]> {
  const decode = (decoder: Decoder) => decodeDescribed(decoder, decodeConsumerMember)
  return requestOf(consumerGroupApi, 'ConsumerGroupDescribe', () => encodeIds(ids), decode)
}

/** Groups of KIP-932. */
export function describeShareGroupsRequest(ids: readonly string[]): ProtocolRequest<DescribedGroup[]> {
  const decode = (decoder: Decoder) => decodeDescribed(decoder, decodeShareMember)
  return requestOf(shareGroupApi, 'ShareGroupDescribe', () => encodeIds(ids), decode)
}

/** TAG_BUFFER [group_ids] include_authorized_operations TAG_BUFFER */
function encodeIds(ids: readonly string[]): Encoder {
  return new Encoder()
    .writeUVarIntBytes()
    .writeUVarIntArray(ids.map((id) => new Encoder().writeUVarIntString(id)))
    .writeBoolean(false)
    .writeUVarIntBytes()
}

/**
 * throttle_time_ms [groups] TAG_BUFFER
 *   groups => error_code error_message group_id state group_epoch assignment_epoch assignor [members]
 *             authorized_operations TAG_BUFFER
 */
function decodeDescribed(decoder: Decoder, decodeMember: (decoder: Decoder) => string[]): DescribedGroup[] {
  decoder.readInt32()
  return readList(decoder, () => {
    const errorCode = decoder.readInt16()
    decoder.readUVarIntString()
    const [id, state] = [readText(decoder), readText(decoder)]
    decoder.readInt32()
    decoder.readInt32()
    decoder.readUVarIntString()
    const assigned = readList(decoder, decodeMember)
    decoder.readInt32()
    decoder.readTaggedFields()
    return { errorCode, id, state, assigned }
  })
}

/**
 * member_id instance_id rack_id member_epoch client_id client_host [topic_names] topic_regex assignment
 * target_assignment TAG_BUFFER
 */
function decodeConsumerMember(decoder: Decoder): string[] {
  for (let texts = 0; texts < 3; texts += 1) decoder.readUVarIntString()
  decoder.readInt32()
  for (let texts = 0; texts < 2; texts += 1) decoder.readUVarIntString()
  readList(decoder, readText)
  decoder.readUVarIntString()
  const topics = decodeAssignment(decoder)
  decodeAssignment(decoder)
  decoder.readTaggedFields()
  return topics
}

/** member_id rack_id member_epoch client_id client_host [topic_names] assignment TAG_BUFFER */
function decodeShareMember(decoder: Decoder): string[] {
  for (let texts = 0; texts < 2; texts += 1) decoder.readUVarIntString()
  decoder.readInt32()
  for (let texts = 0; texts < 2; texts += 1) decoder.readUVarIntString()
  readList(decoder, readText)
  const topics = decodeAssignment(decoder)
  decoder.readTaggedFields()
  return topics
}

/** [topic_partitions => topic_id topic_name [partitions] TAG_BUFFER] TAG_BUFFER */
function decodeAssignment(decoder: Decoder): string[] {
  const topics = readList(decoder, () => {
    decoder.readBytes(16)
    const topic = readText(decoder)
    const partitions = readList(decoder, () => decoder.readInt32())
    decoder.readTaggedFields()
    return partitions.length > 0 ? [topic] : []
  })
  decoder.readTaggedFields()
  return topics.flat()
}

/** TAG_BUFFER [groups => group_id [topics] TAG_BUFFER] TAG_BUFFER; no list of topics asks for all. */
export function shareOffsetsRequest(ids: readonly string[]): ProtocolRequest<ShareOffsets[]> {
  const encodeGroup = (id: string) => new Encoder().writeUVarIntString(id).writeUVarIntArray(null).writeUVarIntBytes()
  const encode = () => new Encoder().writeUVarIntBytes().writeUVarIntArray(ids.map(encodeGroup)).writeUVarIntBytes()
  return requestOf(shareOffsetsApi, 'DescribeShareGroupOffsets', encode, decodeShareOffsets)
}

/**
 * throttle_time_ms [groups => group_id [topics] error_code error_message TAG_BUFFER] TAG_BUFFER
 *   topics => topic_name topic_id [partitions] TAG_BUFFER
 *   partitions => partition start_offset leader_epoch lag error_code error_message TAG_BUFFER
 */
function decodeShareOffsets(decoder: Decoder): ShareOffsets[] {
  decoder.readInt32()
  return readList(decoder, () => {
    const id = readText(decoder)
    const offsets = readList(decoder, decodeShareTopic).flat()
    const errorCode = decoder.readInt16()
    decoder.readUVarIntString()
    decoder.readTaggedFields()
    return { errorCode, id, offsets }
  })
}

function decodeShareTopic(decoder: Decoder): ShareOffset[] {
  const topic = readText(decoder)
  decoder.readBytes(16)
  const partitions = readList(decoder, () => {
    const partition = decoder.readInt32()
    const start = readInt64(decoder)
    decoder.readInt32()
    const lag = readInt64(decoder)
    const errorCode = decoder.readInt16()
    decoder.readUVarIntString()
    decoder.readTaggedFields()
    // Below zero: nobody has read the partition as a member of the group.
    return errorCode === 0 && start >= 0n ? [{ topic, partition, start, lag }] : []
  })
  decoder.readTaggedFields()
  return partitions.flat()
}

function requestOf<T>(
  api: { key: number; version: number },
  apiName: string,
  encode: () => Encoder,
  decode: (decoder: Decoder) => T,
): ProtocolRequest<T> {
  return {
    request: { apiKey: api.key, apiVersion: api.version, apiName, encode: async () => encode() },
    response: {
      decode: async (rawData) => {
        const decoder = new Decoder(rawData)
        decoder.readTaggedFields()
        return decode(decoder)
      },
      // One group that fails must not hide the others, so nothing is thrown here.
      parse: async (decoded) => decoded,
    },
  }
}

const readText = (decoder: Decoder) => decoder.readUVarIntString() ?? ''
const readInt64 = (decoder: Decoder) => BigInt(String(decoder.readInt64()))

function readList<T>(decoder: Decoder, read: (decoder: Decoder) => T): T[] {
  return decoder.readUVarIntArray(read) ?? []
}
