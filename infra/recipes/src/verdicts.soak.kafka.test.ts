// Verdicts of what two frameworks do: a Kafka Streams application that carries our headers into another topic, and
// Spring's @RetryableTopic, which reads its retry topics as another group. Real processes, made by Maven.

import { createDlqClient, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { eachMessage } from 'dlq-client/each.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isInstalled, makeApplication, startApplication } from './test-application.ts'

const fleet = useFleet('verdicts', {
  env: {
    DLQ_RETRY_AUTO_RETRY: 'false',
    DLQ_VERDICTS_LOOK_INTERVAL: '1s',
    DLQ_KAFKA_DLQ_TOPIC_PATTERN: 'verdicts-*.dlq.v1',
  },
})
beforeAll(() => fleet.services.startAll())
afterAll(() => fleet.services.stop())

const make = 'mvn -q -B package -DskipTests dependency:copy-dependencies'
const hasMaven = isInstalled('mvn') && isInstalled('java')
if (!hasMaven) console.info('Verdicts of Streams and Spring are not tested: there is no Java with Maven here.')

type Detail = components['schemas']['MessageDetail']

const client = () => createDlqClient({ baseUrl: fleet.services.get('api').url })
const read = (id: string): Promise<Detail> =>
  dataOf(client().GET('/api/v1/dlq/messages/{id}', { params: { path: { id } } }))
const retry = (id: string) => dataOf(client().POST('/api/v1/dlq/messages/{id}/retry', { params: { path: { id } } }))
const rowOf = async (id: string) => {
  const [row] = await fleet.database.sql`
    select status::text as status, failure_count, original_topic, consumer_group, related_to
    from dlq.dlq_messages where id = ${id}`
  return row
}
const verdictsOf = async (id: string) =>
  (await read(id)).attempts.map(({ verdict, verdict_reason }) => [verdict, verdict_reason].filter(Boolean).join(' '))

/** The messages of a topic, once there are so many. */
async function messagesOf(topic: string, count: number): Promise<{ id: string }[]> {
  return await eventually(async () => {
    const found = await Array.fromAsync(eachMessage(client(), { topic }))
    expect(found).toHaveLength(count)
    return found
  })
}

/** A topic that the fleet ingests the dead letters of. */
async function createTopic(base: string): Promise<string> {
  const topic = fleet.topics.topicName(`verdicts-${base}`)
  const dlq = fleet.topics.claimTopic(`${topic}.dlq.v1`)
  await createTopics(
    fleet.topics.admin,
    [topic, dlq].map((name) => ({ topic: name, numPartitions: 1 })),
  )
  return topic
}

const horizonOf = (topic: string, horizon: string) => fleet.database.sql`
  insert into dlq.dlq_policies (pattern, verdict_horizon) values (${topic}, ${horizon}::interval)
  on conflict (pattern) do update set verdict_horizon = excluded.verdict_horizon`
const send = (topic: string, key: string) => fleet.producer.send({ topic, messages: [{ key, value: '{"amount":5}' }] })
const BROKERS = () => fleet.topics.brokers.join()

test.skipIf(!hasMaven)(
  'a Streams application carries our headers on: they say nothing of the topic behind it',
  async () => {
    await using stack = new AsyncDisposableStack()
    const folder = makeApplication(stack, { name: 'streams', make })
    const [orders, bills] = [await createTopic('orders'), await createTopic('bills')]
    await horizonOf(orders, '3 seconds')
    const [billing, mailing] = [fleet.topics.groupName('billing'), fleet.topics.groupName('mailing')]
    const run = `java -cp 'target/classes:target/dependency/*' shop.BillingStreams`
    const KEY = 'order-7'
    const start = (TOPIC: string, GROUP: string, more: Record<string, string>) =>
      startApplication(stack, { folder, run, env: { BROKERS: BROKERS(), TOPIC, GROUP, KEY, ...more } })
    const first = await start(orders, billing, { OUT: bills })
    // The one behind it fails at everything.
    await start(bills, mailing, { FAILING_ATTEMPTS: '9' })
    await send(orders, KEY)

    const [order] = await messagesOf(orders, 1)
    await retry(order!.id)
    const [bill] = await messagesOf(bills, 1)
    expect(first.output()).toContain(`handled ${KEY}`)
    expect(bill!.id).not.toBe(order!.id)
    // The failure behind the application names the order's retry in its headers, and is no failure of it. Streams says
    // nothing of its group.
    expect(await rowOf(bill!.id)).toMatchObject({ original_topic: bills, related_to: order!.id, consumer_group: null })
    await eventually(async () => expect(await verdictsOf(order!.id)).toEqual(['consumed']))
    expect(await rowOf(order!.id)).toMatchObject({ status: 'RESOLVED', failure_count: 1 })

    // Its own failures are its own.
    await retry(bill!.id)
    await eventually(async () => expect(await verdictsOf(bill!.id)).toEqual(['came_back']))
    expect(await rowOf(bill!.id)).toMatchObject({ status: 'PENDING', failure_count: 2 })
    expect(await messagesOf(orders, 1)).toEqual([expect.objectContaining({ id: order!.id })])
    await messagesOf(bills, 1)
  },
)

test.skipIf(!hasMaven)(
  'Spring passes a record on to its retry topics, whose group is the same: it is not consumed until it came back or did not',
  async () => {
    await using stack = new AsyncDisposableStack()
    const folder = makeApplication(stack, { name: 'spring', make })
    const orders = await createTopic('spring')
    const GROUP = fleet.topics.groupName('billing')
    const KEY = 'order-8'
    const run = `java -cp 'target/classes:target/dependency/*' shop.BillingApplication --spring.kafka.bootstrap-servers=$BROKERS --billing.topic=$TOPIC --billing.group=$GROUP --billing.mode=retryable`
    const env = { BROKERS: BROKERS(), TOPIC: orders, GROUP, KEY, FAILING_ATTEMPTS: '1' }
    const application = await startApplication(stack, { folder, run, env })
    fleet.topics.claimTopic(`${orders}-retry`)
    await send(orders, KEY)
    const [message] = await messagesOf(orders, 1)
    const groups = (await fleet.topics.admin.listGroups()).groups.map(({ groupId }) => groupId)
    expect(groups.filter((name) => name.startsWith(GROUP)).toSorted()).toEqual([
      GROUP,
      `${GROUP}-retry`,
      // Spring reads the DLQ topic as well.
      `${GROUP}.dlq.v1`,
    ])

    // The first retry fails too: first in the topic, then in the retry topic, then it is a dead letter again.
    await retry(message!.id)
    const seen = new Set<string>()
    await eventually(
      async () => {
        for (const verdict of await verdictsOf(message!.id)) seen.add(verdict)
        expect([...seen]).toContain('came_back')
      },
      { intervalMs: 100 },
    )
    expect([...seen]).not.toContain('consumed')
    // The dead letter came from the group of the retry topic, and still is the same message.
    await messagesOf(orders, 1)
    expect(await rowOf(message!.id)).toMatchObject({ status: 'PENDING', failure_count: 2, consumer_group: GROUP })

    // The second one is handled. With retry topics the horizon is a day, unless the policy knows better.
    await retry(message!.id)
    await eventually(() => expect(application.output()).toContain(`handled ${KEY}`))
    await eventually(async () => expect(await verdictsOf(message!.id)).toEqual(['came_back', 'passed']))
    // The retrier lists topics once a minute, so it may not know the retry topic yet.
    await eventually(async () => {
      const last = (await read(message!.id)).attempts.at(-1)!
      expect(last.judged_by).toBe(GROUP)
      expect(Date.parse(last.horizon_until!) - Date.now()).toBeGreaterThan(20 * 3_600_000)
    })
    await horizonOf(orders, '3 seconds')
    await eventually(async () => expect(await verdictsOf(message!.id)).toEqual(['came_back', 'consumed']))

    // Its consumer is down: a retry is sent, and not read. Then somebody moves the offset over it.
    await send(orders, KEY)
    const all = await messagesOf(orders, 2)
    const other = all.find(({ id }) => id !== message!.id)!
    await application.stop('SIGTERM', 30_000)
    await retry(other.id)
    await eventually(async () => {
      expect(await verdictsOf(other.id)).toEqual(['sent'])
      const [reader] = await fleet.database.sql`
      select state, members from dlq.dlq_readers where target_topic = ${orders} and consumer_group = ${GROUP}`
      expect(reader).toMatchObject({ state: 'Empty', members: 0 })
    })
    // The tool that moves the offset is a member for a moment. A look at that moment takes it for a consumer.
    await fleet.services.get('retrier').stop('SIGTERM', 60_000)
    const [end] = await fleet.topics.admin.fetchTopicOffsets(orders)
    const partitions = [{ partition: 0, offset: end!.offset }]
    await fleet.topics.admin.setOffsets({ groupId: GROUP, topic: orders, partitions })
    await eventually(async () => {
      const { groups } = await fleet.topics.admin.describeGroups([GROUP])
      expect(groups).toMatchObject([{ state: 'Empty' }])
    })
    await fleet.services.start('retrier')
    await eventually(async () => expect(await verdictsOf(other.id)).toEqual(['skipped']))
  },
)
