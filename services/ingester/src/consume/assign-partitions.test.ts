// Shares of partitions between members that read the same topics, or others. No Kafka.
import { createLog, type Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Cluster, type Logger } from 'kafkajs'
import { expect, test, vi } from 'vitest'
import { type AssignDeps, assignToReaders, shareOut } from './assign-partitions.ts'
import { encodeMember } from './group-members.ts'

const partitionsOf = (topic: string, count: number) =>
  Array.from({ length: count }, (_, partition) => ({ topic, partition }))

/** Each member is the ingester of its name. */
function shared(
  partitions: { topic: string; partition: number }[],
  readers: Record<string, string[]>,
  strangers: string[] = [],
) {
  const members = new Map(
    Object.entries(readers).map(([id, topics]) => [id, { topics: new Set(topics), ingesterId: id }]),
  )
  const shares = shareOut(partitions, { members, strangers: new Set(strangers) })
  return Object.fromEntries([...shares].map(([id, share]) => [id, { ...share }]))
}

test('members that read the same topics get one partition after the other', () => {
  const partitions = [...partitionsOf('a', 3), ...partitionsOf('b', 2)]
  expect(shared(partitions, { m2: ['a', 'b'], m1: ['a', 'b'] })).toEqual({
    m1: { a: [0, 2], b: [1] },
    m2: { a: [1], b: [0] },
  })
})

test('nobody gets a partition of a topic that he does not read, and each has a fair share', () => {
  const partitions = [...partitionsOf('both', 4), ...partitionsOf('mine', 4)]
  expect(shared(partitions, { one: ['both', 'mine'], other: ['both'] })).toEqual({
    one: { both: [0, 2], mine: [0, 1, 2, 3] },
    other: { both: [1, 3] },
  })
  expect(shared(partitionsOf('a', 2), { m1: ['b'] })).toEqual({})
})

test('a stranger gets what nobody else reads, and nothing else', () => {
  const partitions = [...partitionsOf('ours', 4), ...partitionsOf('theirs', 2)]
  const readers = { m1: ['ours'], m2: ['ours'], strange: ['ours', 'theirs'] }
  expect(shared(partitions, readers, ['strange'])).toEqual({
    m1: { ours: [0, 2] },
    m2: { ours: [1, 3] },
    strange: { theirs: [0, 1] },
  })
})

/** What members get where the leader reads topic "a" of two partitions. */
async function assigned(
  members: Record<string, Buffer>,
  {
    fetchPartitions = async () => [],
    strangers = [],
    findStrangers = async (members) =>
      new Set(members.flatMap(({ ingesterId: id }) => (id !== null && strangers.includes(id) ? id : []))),
    log = createLog({ service: 'test', level: 'silent' }),
  }: Partial<Pick<AssignDeps, 'findStrangers' | 'log'>> &
    Partial<{ fetchPartitions: () => Promise<never[]>; strangers: string[] }>,
) {
  const cluster = { findTopicPartitionMetadata: () => [{ partitionId: 0 }, { partitionId: 1 }] } as unknown as Cluster
  const assigner = assignToReaders({
    ...{ ingesterId: 'i1', reader: { fetchPartitions }, findStrangers, log },
  })({ cluster, groupId: 'g', logger: null as unknown as Logger })
  const list = Object.entries(members).map(([memberId, memberMetadata]) => ({ memberId, memberMetadata }))
  const { MemberAssignment } = kafkajs.AssignerProtocol
  return Object.fromEntries(
    (await assigner.assign({ members: list, topics: ['a'] })).map(({ memberId, memberAssignment }) => [
      memberId,
      MemberAssignment.decode(memberAssignment)!.assignment,
    ]),
  )
}

const reads = (ingesterId: string, ...topics: string[]) => encodeMember({ topics, ingesterId })

test('topics of others that nobody finds leave the leader’s own as they are', async () => {
  const fetchPartitions = () => Promise.reject(new Error('no broker'))
  const members = { m1: reads('i1', 'a'), m2: reads('i2', 'b') }
  expect(await assigned(members, { fetchPartitions })).toEqual({ m1: { a: [0, 1] } })
})

test('a member that speaks another protocol gets nothing, and one from before is no stranger', async () => {
  expect(await assigned({ m1: reads('i1', 'a'), m2: Buffer.from([0, 0, 127]) }, {})).toEqual({ m1: { a: [0, 1] } })
  const before = kafkajs.AssignerProtocol.MemberMetadata.encode({
    version: 0,
    topics: ['a'],
    userData: Buffer.alloc(0),
  })
  expect(await assigned({ m1: reads('i1', 'a'), m2: before }, { strangers: [''] })).toEqual({
    m1: { a: [0] },
    m2: { a: [1] },
  })
})

test('a broker that does not answer holds the group up for two seconds only', { timeout: 5000 }, async () => {
  const silent = () => new Promise<never[]>(() => {})
  const members = { m1: reads('i1', 'a'), m2: reads('i2', 'b') }
  expect(await assigned(members, { fetchPartitions: silent })).toEqual({ m1: { a: [0, 1] } })
})

test.each([
  ['fails', () => Promise.reject(new Error('no database'))],
  ['does not answer', () => new Promise<never>(() => {})],
])(
  'where the database %s, strangers get their share, and the log says so',
  { timeout: 5000 },
  async (_, findStrangers) => {
    const warn = vi.fn()
    const members = { m1: reads('i1', 'a'), strange: reads('s1', 'a') }
    const shares = await assigned(members, { findStrangers, log: { warn } as unknown as Log })
    expect(shares).toEqual({ m1: { a: [0] }, strange: { a: [1] } })
    expect(warn.mock.calls).toEqual([[{ groupId: 'g', error: expect.any(Error) }, 'strangers_look_failed']])
  },
)
