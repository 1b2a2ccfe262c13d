// Groups of every protocol of Java's own client, in one process, as a look finds them.

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createGroupReader } from 'dlq-core/runtime/kafka/groups/group-reader.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { compileJava } from 'dlq-testing/kafka/java.ts'
import { kafkaVersion } from 'dlq-testing/kafka/kafka-settings.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { createReaderWatch } from './reader-watch.ts'
import { createVerdictMetrics } from './verdict-counter.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const kinds = ['classic', 'consumer', 'assigned', 'share', 'silent'] as const
const knowsAll = Number.parseFloat(kafkaVersion) >= 4.1
const java = knowsAll
  ? await compileJava(
      fileURLToPath(new URL('../../../../packages/dlq-testing/kafka/GroupReaders.java', import.meta.url)),
    )
  : null
const lacks = knowsAll ? 'there is no Java 17 here' : `Kafka ${kafkaVersion} knows no share groups`
if (java === null) console.info(`Groups of Java’s client are not tested: ${lacks}.`)

function watch() {
  const groups = createGroupReader(topics.kafka)
  onTestFinished(() => groups.disconnect())
  const pass = createReaderWatch({
    ...{
      admin: topics.admin,
      reader: topics.reader,
      groups,
      sql: service.sql,
      ownGroup: 'dlq-manager.test',
      everyMs: 60_000,
      horizonMs: null,
      archiveRetentionMs: 0,
    },
    policies: { load: async () => {}, policyOf: () => defaultRetryPolicy },
    ...{ log: createLog({ service: 'test', level: 'silent' }), now: Date.now },
    metrics: createVerdictMetrics(new Registry()),
  })
  return async () => {
    await database.sql`update dlq.dlq_reader_watch set look_due_at = now()`
    await pass()
  }
}

test.skipIf(java === null)(
  'what groups of every protocol have read is seen, and which of them cannot say',
  async () => {
    onTestFinished(() => java![Symbol.asyncDispose]())
    const topic = await topics.createTopic('orders', { partitions: 1 })
    const groupOf = Object.fromEntries(kinds.map((kind) => [kind, topics.groupName(kind)])) as Record<
      (typeof kinds)[number],
      string
    >
    const readers = java!.start([topics.brokers.join(), ...kinds.map((kind) => `${kind}:${groupOf[kind]}:${topic}`)])
    onTestFinished(async () => {
      readers.stdin!.end()
      if (readers.exitCode === null) await once(readers, 'exit')
    })
    const said = new Set<string>()
    createInterface({ input: readers.stdout! }).on('line', (line) => said.add(line))
    const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
    await producer.connect()
    onTestFinished(() => producer.disconnect())

    const send = async () => {
      const [sent] = await producer.send({ topic, messages: [{ value: 'x' }] })
      return sent!.baseOffset!
    }
    const verdicts = async (offset: string, sentAgo = '0 s') => {
      const rows = await database.sql`
      select g.kind, concat_ws(' ', v.verdict, v.verdict_reason) as verdict
      from json_to_recordset(${JSON.stringify(kinds.map((kind) => ({ kind, name: groupOf[kind] })))}::text::json) as g (kind text, name text)
      cross join lateral dlq.verdict(g.name, ${topic}, 0, ${offset}, now() - ${sentAgo}::interval, null) v`
      return Object.fromEntries(rows.map(({ kind, verdict }) => [kind, verdict]))
    }
    const states = async () => {
      const rows = await database.sql`
      select consumer_group, type, state, members from dlq.dlq_readers where target_topic = ${topic}`
      return Object.fromEntries(
        kinds.map((kind) => {
          const row = rows.find(({ consumer_group }) => consumer_group === groupOf[kind])
          return [kind, row && [row.type, row.state, row.members]]
        }),
      )
    }

    const first = await send()
    const id = await insertMessageRow(database.sql, { original_topic: topic })
    await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, ${crypto.randomUUID()}, 'published', ${topic}, 0, ${first}, now())`
    await eventually(() => {
      if (readers.exitCode !== null) throw new Error('the readers have ended')
      for (const kind of kinds) expect(said).toContain(`read ${groupOf[kind]} ${first}`)
    })
    const look = watch()
    await eventually(async () => {
      await look()
      expect(await verdicts(first)).toEqual({
        ...{ classic: 'passed', consumer: 'passed', assigned: 'passed', share: 'passed', silent: 'sent' },
      })
    })
    expect(await verdicts(first, '2 hours')).toMatchObject({ silent: 'unknown no_commits' })
    expect(await states()).toEqual({
      classic: ['classic', 'Stable', 1],
      consumer: ['consumer', 'Stable', 1],
      // A group that assigns by hand has no members that Kafka knows of.
      assigned: ['classic', 'Empty', 0],
      share: ['share', 'Stable', 1],
      silent: ['classic', 'Stable', 1],
    })

    for (const kind of ['consumer', 'share'] as const) {
      readers.stdin!.write(`stop ${groupOf[kind]}\n`)
      await eventually(() => expect(said).toContain(`stop ${groupOf[kind]}`))
    }
    const second = await send()
    await eventually(() => expect(said).toContain(`read ${groupOf.classic} ${second}`))
    await eventually(async () => {
      await look()
      expect(await verdicts(second)).toMatchObject({
        ...{ classic: 'passed', consumer: 'sent', share: 'unknown share_group' },
      })
    })
    expect(await states()).toMatchObject({ consumer: ['consumer', 'Empty', 0], share: ['share', 'Empty', 0] })
  },
)
