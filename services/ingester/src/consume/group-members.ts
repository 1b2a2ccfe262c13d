// What the members of the ingesters' group say of themselves, and which of them are strangers: ingesters of another
// deployment, which has another database. Somebody has left kafka.consumer_group as it is for both, or tries this program
// out against the brokers of production. What a stranger reads is not stored here.

import { unknownIngesters } from 'dlq-core/queries/ingest/ingesters.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Consumer } from 'kafkajs'

const { MemberMetadata } = kafkajs.AssignerProtocol

/** Of the consumer protocol, in what members say and are told. */
export const memberVersion = 0
/** What the id of an ingester may be; anybody in the group may say anything. */
const ingesterIdPattern = /^[\x21-\x7e]{1,300}$/

/** `ingesterId`: null of a member that does not say it, as of an ingester from before. */
export type Member = { topics: ReadonlySet<string>; ingesterId: string | null }

export function encodeMember({ topics, ingesterId }: { topics: string[]; ingesterId: string }): Buffer {
  return MemberMetadata.encode({ version: memberVersion, topics, userData: Buffer.from(ingesterId) })
}

/** A member that speaks another protocol reads nothing. */
export function readMember(metadata: Buffer): Member {
  try {
    const { topics = [], userData } = MemberMetadata.decode(metadata) ?? {}
    const id = userData?.toString() ?? ''
    return { topics: new Set(topics), ingesterId: ingesterIdPattern.test(id) ? id : null }
  } catch {
    return { topics: new Set(), ingesterId: null }
  }
}

/** The ids of those members that this database does not know. */
export function findStrangers(sql: Database, members: readonly Member[]): Promise<ReadonlySet<string>> {
  return unknownIngesters(
    sql,
    members.flatMap(({ ingesterId }) => ingesterId ?? []),
  )
}

/** From where strangers read in the consumer's group; empty also where Kafka does not say. */
export async function hostsOfStrangers(
  { sql, log }: { sql: Database; log: Log },
  consumer: Consumer,
): Promise<string[]> {
  try {
    const { members } = await consumer.describeGroup()
    const known = members.map(({ clientHost, memberMetadata }) => ({ clientHost, ...readMember(memberMetadata) }))
    const strangers = await findStrangers(sql, known)
    const hosts = known.filter(({ ingesterId }) => ingesterId !== null && strangers.has(ingesterId))
    return [...new Set(hosts.map(({ clientHost }) => clientHost.replace(/^\//, '')))]
  } catch (error) {
    log.debug({ error }, 'look_failed')
    return []
  }
}
