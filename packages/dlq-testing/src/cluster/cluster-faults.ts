// What may happen to three brokers. Each fault begins, lasts, ends, and says what it has done; it throws where it did not
// happen, because a test of a fault that did not happen proves nothing.
import { execFileSync } from 'node:child_process'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import { eventually } from '../eventually.ts'
import type { JavaProgram } from '../kafka/java.ts'
import { coordinatorPartition, coordinatorTopics, countBehind, createWatcher, leaderOf } from './cluster-roles.ts'
import type { ClusterBroker, KafkaCluster } from './kafka-cluster.ts'

export type FaultContext = {
  cluster: KafkaCluster
  admin: Admin
  /** kafka/ClusterTool.java */
  java: JavaProgram
  /** What is written and read while it happens. */
  dlqTopic: string
  targetTopic: string
  ledgerGroup: string
  transactionalId: string
  ingesterGroup: string
  /** The log directory of one broker, where it is a small file system of its own; null where there is none. */
  smallDisk: { broker: number; path: string } | null
}

/** `electionMs`: until the partition in question had another leader; null where no leader had to change. */
export type FaultDone = { what: string; electionMs: number | null }

export type Fault = (context: FaultContext) => Promise<FaultDone>

const awayMs = 12_000
const frozenMs = 40_000
const twoDownMs = 30_000
const cutMs = 20_000
const moving = { seconds: 30, everySeconds: 5 }

type Place = { topic: string; partition: number }
type FindPlace = (context: FaultContext) => Promise<Place>

const dlqPartition: FindPlace = async ({ dlqTopic }) => ({ topic: dlqTopic, partition: 0 })
const targetPartition: FindPlace = async ({ targetTopic }) => ({ topic: targetTopic, partition: 0 })
const ledger: FindPlace = ({ admin, ledgerGroup }) => coordinatorPartition(admin, { kind: 'group', id: ledgerGroup })
const groupCoordinator: FindPlace = ({ admin, ingesterGroup }) =>
  coordinatorPartition(admin, { kind: 'group', id: ingesterGroup })
const transactionCoordinator: FindPlace = ({ admin, transactionalId }) =>
  coordinatorPartition(admin, { kind: 'transaction', id: transactionalId })

/** Name → fault, in the order in which they are tried. */
export const clusterFaults: Readonly<Record<string, Fault>> = {
  'rolling restart': restartAll,
  'SIGKILL of the ledger’s leader': killLeader(ledger),
  'SIGKILL of the transaction coordinator': killLeader(transactionCoordinator),
  'SIGKILL of the group coordinator': killLeader(groupCoordinator),
  'SIGKILL of a DLQ partition’s leader': killLeader(dlqPartition),
  'SIGKILL of a target partition’s leader': killLeader(targetPartition),
  'SIGSTOP of a leader for 40 s': freezeLeader,
  'two of three down for 30 s': killTwo,
  'one cut off from the others': cutOffLeader,
  'a full disk': fillDisk,
  'leaders move every 5 s': moveLeaders,
}

async function restartAll(context: FaultContext): Promise<FaultDone> {
  for (const node of context.cluster.nodes) {
    await node.stop()
    await node.start()
    await untilInSync(context)
  }
  return { what: 'brokers 1, 2 and 3', electionMs: null }
}

function killLeader(find: FindPlace): Fault {
  return async (context) => {
    const place = await find(context)
    const node = await leadingNode(context, place)
    await node.kill()
    const electionMs = await untilMoved(context, place, node)
    await sleep(awayMs)
    await node.start()
    await untilInSync(context)
    return { what: `broker ${node.id}`, electionMs }
  }
}

async function freezeLeader(context: FaultContext): Promise<FaultDone> {
  const place = await targetPartition(context)
  const node = await leadingNode(context, place)
  const resume = node.freeze()
  try {
    const [electionMs] = await Promise.all([untilMoved(context, place, node), sleep(frozenMs)])
    return { what: `broker ${node.id}`, electionMs }
  } finally {
    resume()
    await untilInSync(context)
  }
}

async function killTwo(context: FaultContext): Promise<FaultDone> {
  const place = await targetPartition(context)
  const first = await leadingNode(context, place)
  const second = context.cluster.nodes.find(({ id }) => id !== first.id)!
  await Promise.all([first.kill(), second.kill()])
  await sleep(twoDownMs)
  // Started one after the other, they would wait for each other.
  await Promise.all([first.start(), second.start()])
  await untilInSync(context)
  return { what: `brokers ${first.id} and ${second.id}`, electionMs: null }
}

async function cutOffLeader(context: FaultContext): Promise<FaultDone> {
  const { cluster } = context
  const place = await dlqPartition(context)
  const node = await leadingNode(context, place)
  if (!cluster.links) throw new Error('the network of this cluster cannot be cut')
  const mend = cluster.links.cutOff(node.id)
  const [electionMs] = await Promise.all([untilMoved(context, place, node), sleep(cutMs)])
  const connections = mend()
  if (connections === 0) throw new Error(`broker ${node.id} had no connection that was cut`)
  await untilInSync(context)
  return { what: `broker ${node.id}, ${connections} connections`, electionMs }
}

async function fillDisk(context: FaultContext): Promise<FaultDone> {
  const { cluster, smallDisk } = context
  if (!smallDisk) throw new Error('no broker has a small disk')
  const node = cluster.node(smallDisk.broker)
  const filler = `${smallDisk.path}/filler`
  const { bavail, bsize } = statfsSync(smallDisk.path)
  // The pieces of a page, and more than there is: the last of it is refused.
  try {
    writeFileSync(filler, Buffer.alloc(bavail * bsize + 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
  const since = performance.now()
  await eventually(() => {
    if (node.isRunning()) throw new Error(`broker ${node.id} still runs on a full disk`)
  })
  const endedAfterMs = Math.round(performance.now() - since)
  await sleep(awayMs)
  rmSync(filler)
  await node.start()
  await untilInSync(context)
  return { what: `broker ${node.id}, which ended itself after ${endedAfterMs / 1000} s`, electionMs: null }
}

async function moveLeaders({ cluster, java, dlqTopic, targetTopic }: FaultContext): Promise<FaultDone> {
  const { seconds, everySeconds } = moving
  const topics = [dlqTopic, targetTopic, ...Object.values(coordinatorTopics)]
  const output = await java.run(['move-leaders', cluster.brokers.join(), `${seconds}`, `${everySeconds}`, ...topics])
  const moved = Number(output.trim())
  if (!(moved > 0)) throw new Error('no leader moved')
  return { what: `${moved} changes of a leader`, electionMs: null }
}

/** Kafka chooses a leader by itself only where its own is away; the first of the answers may be older. */
async function leadingNode({ admin, cluster }: FaultContext, { topic, partition }: Place): Promise<ClusterBroker> {
  const leader = await eventually(async () => {
    const found = await leaderOf(admin, topic, partition)
    if (found < 0) throw new Error(`${topic} ${partition} has no leader`)
    return found
  })
  return cluster.node(leader)
}

/**
 * Resolves when another broker leads the partition: to the ms that took. Only the others are asked, because a broker that is
 * cut off answers its clients, and says for as long as it is cut off that it leads.
 */
async function untilMoved(
  { cluster }: FaultContext,
  { topic, partition }: Place,
  from: ClusterBroker,
): Promise<number> {
  const since = performance.now()
  const others = cluster.nodes.filter(({ id }) => id !== from.id).map(({ address }) => address)
  const admin = createWatcher(others).admin()
  try {
    await admin.connect()
    await eventually(async () => {
      const leader = await leaderOf(admin, topic, partition)
      if (leader < 0 || leader === from.id) throw new Error(`${topic} ${partition} is still led by ${from.id}`)
    })
  } finally {
    await admin.disconnect()
  }
  return Math.round(performance.now() - since)
}

/** Resolves when all three have everything: the next fault then meets a whole cluster. */
async function untilInSync({ admin, cluster, dlqTopic, targetTopic }: FaultContext): Promise<void> {
  const topics = [dlqTopic, targetTopic, ...Object.values(coordinatorTopics)]
  await eventually(
    async () => {
      const behind = await countBehind(admin, topics, cluster.nodes.length)
      if (behind > 0) throw new Error(`${behind} partitions have fewer than ${cluster.nodes.length} replicas in sync`)
    },
    { intervalMs: 250 },
  )
}

/** Mounts a file system in memory of that size. Null where this process may not, as without root. */
export function mountSmallDisk(path: string, mebibytes: number): (() => void) | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'dlq-testing', path], { stdio: 'ignore' })
  } catch {
    return null
  }
  return () => void execFileSync('umount', ['-l', path], { stdio: 'ignore' })
}
