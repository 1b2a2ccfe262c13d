// The cluster that other tests kill and freeze brokers of.

import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { useLogFolder } from '../fleet/log-folder.ts'
import { createTopics } from '../kafka/create-topics.ts'
import { createTestKafka } from '../kafka/test-kafka.ts'
import { createReaper } from '../process/reaper.ts'
import { spreadTopic, startKafkaCluster } from './kafka-cluster.ts'

const logs = useLogFolder()

test('a broker that is killed leaves the cluster and comes back to it, and one that is frozen goes on', async () => {
  await using opened = new AsyncDisposableStack()
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  const options = { dataDir: `${logs.path}/cluster`, reaper }
  const cluster = opened.adopt(await startKafkaCluster(options), (cluster) => cluster.stop())
  const admin = opened.adopt(createTestKafka(cluster.brokers).admin(), (admin) => admin.disconnect())
  await admin.connect()
  await createTopics(admin, [spreadTopic('spread')])
  const partitions = async () => (await admin.fetchTopicMetadata({ topics: ['spread'] })).topics[0]!.partitions
  const leaders = async () => (await partitions()).map(({ leader }) => leader)
  const inSync = async () => (await partitions()).map(({ isr }) => isr.length)
  await cluster.node(2).kill()
  expect(cluster.node(2).isRunning()).toBe(false)
  await eventually(async () => expect(await leaders()).not.toContain(2))
  await cluster.node(2).start()
  await eventually(async () => expect(await inSync()).toEqual([3, 3, 3]))

  const resume = cluster.node(3).freeze()
  await eventually(async () => expect(await leaders()).not.toContain(3))
  resume()
  await eventually(async () => expect(await inSync()).toEqual([3, 3, 3]))
})
