// The producer of the patched kafkajs against the one that its project published, on three brokers: what the mended sends
// cost. Both are loaded into this process, and take turns in going first.

import { execFileSync } from 'node:child_process'
import { cpSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type KafkaCluster, startKafkaCluster } from 'dlq-testing/cluster/kafka-cluster.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { createTestKafka } from 'dlq-testing/kafka/test-kafka.ts'
import kafkajs, { type Message, type Producer, type ProducerConfig } from 'kafkajs'
import type { BenchRun } from '../measure/bench-run.ts'
import { type Measurement, measureFloor } from '../measure/measure.ts'
import { formatVariants } from '../measure/report.ts'
import { medianRatio } from '../measure/statistics.ts'

const require = createRequire(import.meta.url)
const patch = fileURLToPath(new URL('../../../../patches/kafkajs@2.2.4.patch', import.meta.url))
const batchSize = 500
const valueBytes = 1000
const partitions = 6
const leastShare = 0.97
// As the retrier's: with kafkajs's own, every transaction would wait 300 ms for the one before.
const retry = { initialRetryTime: 4, multiplier: 1.5, maxRetryTime: 200, retries: 60 }

type Library = { name: string; createProducer(config: ProducerConfig): Producer; rounds: Measurement[] }
type Kind = { name: string; isTransactional: boolean }

/** Prints a table for each kind of sending. Throws where the patched one is slower, except in a quick run. */
export async function benchProducer(run: BenchRun): Promise<void> {
  const size = run.quick ? { warm: 2000, measured: 10_000 } : { warm: 10_000, measured: 100_000 }
  const dataDir = join(run.logDir, 'producer')
  const cluster = await startKafkaCluster({ dataDir, reaper: run.reaper, log: run.print })
  const slow: string[] = []
  try {
    const published = createRequire(join(publishedCopy(dataDir), 'index.js'))('./index.js') as typeof kafkajs
    for (const kind of kinds) {
      run.print(`producer, ${kind.name}: ${size.measured} records of ${valueBytes} bytes, ${batchSize} a batch`)
      const libraries: Library[] = [
        { name: 'kafkajs as published', ...clientOf(published, cluster), rounds: [] },
        { name: 'kafkajs as patched', ...clientOf(kafkajs, cluster), rounds: [] },
      ]
      for (let round = 0; round < run.rounds; round += 1) {
        run.print(`  round ${round + 1} of ${run.rounds}`)
        for (const library of round % 2 === 0 ? libraries : libraries.toReversed())
          library.rounds.push(await measureSends(library, cluster, { kind, size }))
      }
      const [floor, mended] = libraries as [Library, Library]
      run.print(formatVariants(libraries, floor))
      const rates = ({ rounds }: Library) => rounds.map(({ rowsPerSecond }) => rowsPerSecond)
      const share = medianRatio(rates(mended), rates(floor))
      run.print(`  patched against published, median of the rounds: ${share.toFixed(3)}`)
      if (share < leastShare) slow.push(`${kind.name}: ${share.toFixed(3)}`)
    }
  } finally {
    await cluster.stop()
  }
  if (slow.length > 0 && !run.quick) throw new Error(`below ${leastShare} of the published kafkajs: ${slow.join(', ')}`)
}

const kinds: readonly Kind[] = [
  { name: 'transactions', isTransactional: true },
  { name: 'idempotent sends', isTransactional: false },
]

/** The package without our patch. It has no dependencies. */
function publishedCopy(dataDir: string): string {
  const installed = dirname(realpathSync(require.resolve('kafkajs/package.json')))
  const copy = join(dataDir, 'kafkajs')
  cpSync(installed, copy, { recursive: true, filter: (path) => !relative(installed, path).startsWith('node_modules') })
  execFileSync('git', ['apply', '--whitespace=nowarn', '--reverse', patch], {
    cwd: copy,
    // Inside of our clone git would look for the files there.
    env: { ...process.env, GIT_CEILING_DIRECTORIES: dataDir },
  })
  return copy
}

function clientOf({ Kafka, logLevel, Partitioners }: typeof kafkajs, { brokers }: KafkaCluster) {
  const kafka = new Kafka({ clientId: 'dlq-bench', brokers, logLevel: logLevel.NOTHING })
  const createPartitioner = Partitioners.DefaultPartitioner
  return { createProducer: (config: ProducerConfig) => kafka.producer({ ...config, createPartitioner }) }
}

let topics = 0

async function measureSends(
  { createProducer }: Library,
  cluster: KafkaCluster,
  { kind, size }: { kind: Kind; size: { warm: number; measured: number } },
): Promise<Measurement> {
  topics += 1
  const topic = `producer-bench-${topics}`
  await createTopic(cluster, topic)
  const { isTransactional } = kind
  const producer = createProducer({
    ...(isTransactional ? { transactionalId: topic } : { idempotent: true }),
    ...{ maxInFlightRequests: 1, allowAutoTopicCreation: false, retry },
  })
  const messages = Array.from({ length: batchSize }, (_, n): Message => {
    return { partition: n % partitions, key: `${n}`, value: Buffer.alloc(valueBytes, n), headers: { n: `${n}` } }
  })
  const send = async (records: number) => {
    for (let sent = 0; sent < records; sent += batchSize) {
      const transaction = isTransactional ? await producer.transaction() : null
      await (transaction ?? producer).sendBatch({ acks: -1, topicMessages: [{ topic, messages }] })
      await transaction?.commit()
    }
  }
  await producer.connect()
  try {
    await send(size.warm)
    return await measureFloor(() => send(size.measured), { total: size.measured, postgresPid: undefined })
  } finally {
    await producer.disconnect()
  }
}

async function createTopic(cluster: KafkaCluster, topic: string): Promise<void> {
  const admin = createTestKafka(cluster.brokers).admin()
  await admin.connect()
  try {
    await createTopics(admin, [{ topic, numPartitions: partitions }])
  } finally {
    await admin.disconnect()
  }
}
