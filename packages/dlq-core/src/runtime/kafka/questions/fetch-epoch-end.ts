// Where the records of a leader end in the log that its followers have now (KIP-320): below what was read of them, if an
// election has lost some. kafkajs does not ask for it:
// https://kafka.apache.org/protocol.html#The_Messages_OffsetForLeaderEpoch, versions 2 and 3.

import {
  type Cluster,
  createErrorFromCode,
  type Decoder,
  Decoder as DecoderOf,
  Encoder,
  type ProtocolRequest,
  sendRequest,
} from '../kafkajs-internals.ts'
import { askAgain, findLeader } from './ask-leader.ts'

export type EpochPlace = { topic: string; partition: number; epoch: number }
/** The offset after the last record of `epoch`, which is the one that was asked for, or the last one before it. */
export type EpochEnd = { epoch: number; offset: bigint }

const apiKey = 23
const newestVersion = 3
const oldestVersion = 2
const notAReplica = -1
const unknownEpoch = -1

/**
 * Null where the leader knows no such epoch, or Kafka is older than 2.1. Asks again where the partition's leader moves.
 *
 * @throws KafkaJSProtocolError where Kafka refuses the topic (deleted, forbidden)
 */
export async function fetchEpochEnd(cluster: Cluster, place: EpochPlace): Promise<EpochEnd | null> {
  return askAgain(cluster, async () => {
    const leader = await findLeader(cluster, place)
    const supported = leader?.versions?.[apiKey]?.maxVersion ?? 0
    if (leader === null || supported < oldestVersion) return null
    return sendRequest(leader, epochEndRequest(place, Math.min(supported, newestVersion)))
  })
}

type Answer = { errorCode: number; epoch: number; offset: bigint }

function epochEndRequest(place: EpochPlace, apiVersion: number): ProtocolRequest<Answer, EpochEnd | null> {
  return {
    request: {
      apiKey,
      apiVersion,
      apiName: 'OffsetForLeaderEpoch',
      encode: async () => encodeRequest(place, apiVersion),
    },
    response: {
      decode: async (rawData) => decodeResponse(rawData),
      parse: async ({ errorCode, epoch, offset }) => {
        if (errorCode !== 0) throw createErrorFromCode(errorCode)
        return epoch === unknownEpoch || offset < 0n ? null : { epoch, offset }
      },
    },
  }
}

/**
 * replica_id (from version 3 on) [topics]
 *   topics => topic [partitions]
 *   partitions => partition current_leader_epoch leader_epoch
 */
function encodeRequest({ topic, partition, epoch }: EpochPlace, apiVersion: number): Encoder {
  const wanted = new Encoder().writeInt32(partition).writeInt32(unknownEpoch).writeInt32(epoch)
  const ofTopic = new Encoder().writeString(topic).writeArray([wanted])
  const request = new Encoder()
  if (apiVersion >= newestVersion) request.writeInt32(notAReplica)
  return request.writeArray([ofTopic])
}

/**
 * throttle_time_ms [topics]
 *   topics => topic [partitions]
 *   partitions => error_code partition leader_epoch end_offset
 */
function decodeResponse(rawData: Buffer): Answer {
  const decoder = new DecoderOf(rawData)
  decoder.readInt32()
  const [answer] = decoder.readArray(decodeTopic).flat()
  if (answer === undefined) throw new Error('Kafka has answered for no partition')
  return answer
}

function decodeTopic(decoder: Decoder): Answer[] {
  decoder.readString()
  return decoder.readArray(decodePartition)
}

function decodePartition(decoder: Decoder): Answer {
  const errorCode = decoder.readInt16()
  decoder.readInt32()
  const epoch = decoder.readInt32()
  return { errorCode, epoch, offset: BigInt(String(decoder.readInt64())) }
}
