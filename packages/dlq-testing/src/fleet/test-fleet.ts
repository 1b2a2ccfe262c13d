// A test file's own fleet: a database, an original topic X with its DLQ topic X.dlq.v1, and services that see only
// these. Processes that still run at the end of the file are stopped before the search for leaks.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Producer } from 'kafkajs'
import { afterAll, beforeAll } from 'vitest'
import { createTopics } from '../kafka/create-topics.ts'
import { type TestTopics, useTopics } from '../kafka/test-topics.ts'
import { type TestDatabase, useDatabase } from '../postgres/test-database.ts'
import { createReaper } from '../process/reaper.ts'
import { useLogFolder } from './log-folder.ts'
import { createFleet, type Fleet } from './service-fleet.ts'
import type { ServiceCommand, ServiceName } from './service-process.ts'

export type TestFleet = {
  readonly database: TestDatabase
  readonly topics: TestTopics
  readonly services: Fleet
  /** The topic that records fail in. */
  readonly original: string
  /** Its dead letters' topic, `ORIGINAL.dlq.v1`. */
  readonly dlq: string
  readonly cluster: string
  /** Connected; closed for you. */
  readonly producer: Producer
  /** The lines that a service has written. */
  logOf(name: ServiceName): LogLine[]
}

export type LogLine = { event: string; [field: string]: unknown }

const dlqSuffix = '.dlq.v1'

/** Call once at the top of a test file, before other hooks. `env` holds settings for every service, `command` starts one. */
export function useFleet(
  base: string,
  { partitions = 1, env, command }: { partitions?: number; env?: NodeJS.ProcessEnv; command?: ServiceCommand } = {},
): TestFleet {
  const database = useDatabase()
  const topics = useTopics()
  const logs = useLogFolder()
  let opened: Omit<TestFleet, 'database' | 'topics' | 'logOf'> | undefined
  let release: AsyncDisposableStack | undefined

  beforeAll(async () => {
    await using stack = new AsyncDisposableStack()
    const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
    const original = topics.topicName(base)
    const dlq = `${original}${dlqSuffix}`
    stack.defer(() => topics.admin.deleteTopics({ topics: [dlq] }))
    await createTopics(
      topics.admin,
      [original, dlq].map((topic) => ({ topic, numPartitions: partitions })),
    )
    const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
    stack.adopt(producer, (producer) => producer.disconnect())
    await producer.connect()
    const services = createFleet({
      databaseUrl: database.url,
      kafkaBrokers: topics.brokers,
      reaper,
      topicPattern: dlq,
      consumerGroup: topics.groupName(base),
      logDir: logs.path,
      env,
      command,
    })
    stack.adopt(services, (services) => services.stop())
    const { clusterId: cluster } = await topics.admin.describeCluster()
    opened = { services, original, dlq, cluster, producer }
    release = stack.move()
  })

  afterAll(() => release?.disposeAsync())

  const use = () => {
    if (!opened) throw new Error('useFleet(): the fleet is there only inside hooks and tests')
    return opened
  }
  return {
    database,
    topics,
    logOf(name) {
      const lines = readFileSync(join(logs.path, `${name}.log`), 'utf8').split('\n')
      // The last one may be half-written.
      return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as LogLine)
    },
    get services() {
      return use().services
    },
    get original() {
      return use().original
    },
    get dlq() {
      return use().dlq
    },
    get cluster() {
      return use().cluster
    },
    get producer() {
      return use().producer
    },
  }
}
