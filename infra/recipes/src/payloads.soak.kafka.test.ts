// Values as a Java consumer's own deserializers read them, after dlq-manager has shown and changed them: Avro with a real
// registry, Protobuf, and JSON that Spring has written anew. Real processes, made by Maven.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDlqClient } from 'dlq-client/api-client.ts'
import { eachMessage } from 'dlq-client/each.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { type Apicurio, startApicurio } from 'dlq-testing/schemas/apicurio.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Application, isInstalled, makeApplication, startApplication } from './test-application.ts'

const logs = useLogFolder()
const env: NodeJS.ProcessEnv = {
  DLQ_RETRY_AUTO_RETRY: 'false',
  DLQ_KAFKA_DLQ_TOPIC_PATTERN: 'payloads-*.dlq.v1',
}
const fleet = useFleet('payloads', { env })
const hasMaven = isInstalled('mvn') && isInstalled('java')
if (!hasMaven) console.info('Values are not read by Java: there is no Java with Maven here.')
let registry: Apicurio
let folder: string
let release: AsyncDisposableStack | undefined

beforeAll(async () => {
  if (!hasMaven) return
  await using stack = new AsyncDisposableStack()
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  folder = makeApplication(stack, {
    name: 'payloads',
    make: 'mvn -q -B package -DskipTests dependency:copy-dependencies',
  })
  const started = await startApicurio({ reaper, logFile: join(logs.path, 'apicurio.log'), say: console.info })
  registry = stack.use(started!)
  const files = join(logs.path, 'schemas')
  mkdirSync(files)
  const classes = 'target/classes:target/dependency/*'
  execFileSync('java', ['-cp', classes, 'shop.PayloadApplication', 'describe', join(files, 'order.desc')], {
    cwd: folder,
  })
  env.DLQ_CONFIG = join(logs.path, 'config.yaml')
  const schemas = {
    registries: [{ name: 'main', type: 'apicurio', url: registry.nativeUrl }],
    files,
    rules: [{ topics: 'payloads-protobuf-*', value: { format: 'protobuf', type: 'shop.Order' } }],
  }
  writeFileSync(env.DLQ_CONFIG, JSON.stringify({ schemas }))
  await fleet.services.startAll()
  release = stack.move()
}, 900_000)
afterAll(() => release?.disposeAsync())

const bytes = 'org.apache.kafka.common.serialization.ByteArray'
const json = 'org.springframework.kafka.support.serializer.JacksonJson'
const avro = 'io.apicurio.registry.serde.avro.AvroKafka'
const avroWith = (headers: boolean) =>
  [
    ...[avro, '--billing.sends=true', `'--spring.kafka.properties[apicurio.registry.url]=$REGISTRY'`],
    `'--spring.kafka.properties[apicurio.registry.headers.enabled]=${headers}'`,
  ] as const
const formats = {
  avro: avroWith(true),
  framed: avroWith(false),
  protobuf: [bytes],
  json: [json, `'--spring.kafka.consumer.properties[spring.json.value.default.type]=shop.PayloadApplication$Order'`],
} as const

type Detail = {
  id: string
  status: string
  payload: unknown
  decoding: { state: string; format: string; schema: { name: string } | null } | null
  error_message: string
}

async function start(stack: AsyncDisposableStack, format: keyof typeof formats) {
  const topic = fleet.topics.topicName(`payloads-${format}`)
  const dlq = fleet.topics.claimTopic(`${topic}.dlq.v1`)
  await createTopics(
    fleet.topics.admin,
    [topic, dlq].map((name) => ({ topic: name, numPartitions: 1 })),
  )
  const [prefix, ...more] = formats[format]
  const options = [
    '--spring.kafka.bootstrap-servers=$BROKERS --billing.topic=$TOPIC --billing.group=$GROUP',
    `--spring.kafka.consumer.value-deserializer=${prefix}Deserializer --spring.kafka.producer.value-serializer=${prefix}Serializer`,
    ...more.map((option) => option.replaceAll("'", '"').replace('$Order', '\\$Order')),
    '"--spring.kafka.producer.properties[apicurio.registry.auto-register]=true"',
  ]
  const application = await startApplication(stack, {
    folder,
    run: `java -cp 'target/classes:target/dependency/*' shop.PayloadApplication ${options.join(' ')}`,
    env: {
      ...{ BROKERS: fleet.topics.brokers.join(), TOPIC: topic, GROUP: fleet.topics.groupName('billing') },
      // The serializers of version 2: Maven Central lacks the parent of those of version 3.
      REGISTRY: registry.nativeUrl.replace('/v3', '/v2'),
    },
  })
  return { topic, application }
}

/** The dead letter of the topic, once it is there. */
async function deadLetterOf(topic: string, application: Application): Promise<string> {
  const client = createDlqClient({ baseUrl: fleet.services.get('api').url })
  return await eventually(async () => {
    if (application.hasExited()) throw new Error(application.lastOutput())
    const [only, ...others] = await Array.fromAsync(eachMessage(client, { topic }))
    if (!only || others.length > 0) throw new Error(`${1 + others.length} messages\n${application.lastOutput()}`)
    return only.id
  })
}

const read = async (id: string) => (await fleet.services.request(`/api/v1/dlq/messages/${id}`)).json() as Detail

async function patch(id: string, body: object): Promise<void> {
  const answer = await fleet.services.request(`/api/v1/dlq/messages/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify({ reason: 'the amount was wrong', ...body }),
  })
  expect(answer.text).toContain(id)
  expect(answer.status).toBe(200)
}

async function retryUntilHandled(id: string, application: Application, line: string): Promise<void> {
  const retried = await fleet.services.request(`/api/v1/dlq/messages/${id}/retry`, { method: 'POST' })
  expect(retried.json()).toMatchObject({ status: 'RESOLVED' })
  await eventually(() => {
    if (!application.output().includes(line)) throw new Error(application.lastOutput())
  })
}

/** What stands in the topic, in the order in which it was sent. */
async function recordsIn(topic: string) {
  const records = await readTopic(fleet.topics.kafka, { topic, groupId: fleet.topics.groupName('reader') })
  return records.map(({ value, headerPairs }) => ({
    value: value!,
    schemaId: headerPairs.find(([name]) => name === 'apicurio.value.globalId')?.[1],
  }))
}

const saw = (line: string, value: unknown) => console.info(`${line}: ${JSON.stringify(value)}`)

test.skipIf(!hasMaven).each([
  ['a header', 'avro'],
  ['a frame', 'framed'],
] as const)(
  'Avro of a real registry, with its id in %s, is seen decoded, edited as JSON, and read by the Java consumer',
  async (_, format) => {
    await using stack = new AsyncDisposableStack()
    const { topic, application } = await start(stack, format)
    const id = await deadLetterOf(topic, application)
    const message = await eventually(async () => {
      const message = await read(id)
      expect(message.decoding).toMatchObject({ state: 'decoded' })
      return message
    })
    saw('Avro', [message.payload, message.decoding])
    expect(message).toMatchObject({
      payload: { id: 'order-7', cents: -5, note: null },
      decoding: { schema: { name: 'shop.Order' } },
    })
    await patch(id, { value: { decoded: { id: 'order-7', cents: 1_234_567, note: 'by hand' } } })
    await retryUntilHandled(id, application, 'handled order-7 1234567')
    const [first, retried] = await recordsIn(topic)
    saw('sent, and sent again', [first!.value.toString('hex'), retried!.value.toString('hex')])
    if (format === 'avro') expect(retried!.schemaId).toBeInstanceOf(Buffer)
    // A zero, and the schema's id in eight bytes.
    else expect(first!.value.subarray(0, 5)).toEqual(Buffer.alloc(5))
    expect(retried!.schemaId).toEqual(first!.schemaId)
    if (format === 'framed') expect(retried!.value.subarray(0, 9)).toEqual(first!.value.subarray(0, 9))
  },
)

test.skipIf(!hasMaven)('Protobuf is seen decoded, edited as JSON, and read by the Java consumer', async () => {
  await using stack = new AsyncDisposableStack()
  const { topic, application } = await start(stack, 'protobuf')
  const value = Buffer.concat([Buffer.from([0x0a, 7]), Buffer.from('order-7'), Buffer.from([0x10, 9])])
  await fleet.producer.send({ topic, messages: [{ key: 'order-7', value }] })
  const id = await deadLetterOf(topic, application)
  const message = await read(id)
  saw('Protobuf', [message.payload, message.decoding])
  expect(message).toMatchObject({ payload: { id: 'order-7', cents: '-5' }, decoding: { state: 'decoded' } })
  await patch(id, { patch: [{ op: 'replace', path: '/cents', value: '1234567' }] })
  await retryUntilHandled(id, application, 'handled order-7 1234567')
})

test.skipIf(!hasMaven)(
  'JSON that Spring has written anew differs from its original, which is adopted and sent byte for byte',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { topic, application } = await start(stack, 'json')
    const value = '{ "cents": 500,  "id": "order-7", "vat": 12345678901234567890.123 }'
    await fleet.producer.send({ topic, messages: [{ key: 'order-7', value, headers: { trace: 'abc' } }] })
    const id = await deadLetterOf(topic, application)
    const origin = `/api/v1/dlq/messages/${id}/origin`
    await fleet.services.request(origin, { method: 'POST' })
    const compared = await eventually(async () => {
      const compared = (await fleet.services.request(origin)).json() as { state: string; differs: string[] }
      expect(compared).toMatchObject({ state: 'different' })
      return compared
    })
    saw('JSON, the copy', (await read(id)).payload)
    saw('JSON, the original', compared)
    expect(compared.differs).toContain('value')
    await patch(id, { record: 'origin' })
    await retryUntilHandled(id, application, 'handled order-7 500')
    const [first, retried] = await recordsIn(topic)
    expect(String(retried!.value)).toBe(value)
    expect(retried!.value).toEqual(first!.value)
  },
)
