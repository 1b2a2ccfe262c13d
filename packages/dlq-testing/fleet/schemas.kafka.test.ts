// A fleet beside a real schema registry: what is stored while the registry answers, while it hangs, and after its schemas
// are gone.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createRegistryClient } from 'dlq-core/runtime/schemas/registry-client.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { type Apicurio, startApicurio } from 'dlq-testing/schemas/apicurio.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const logs = useLogFolder()
const env: NodeJS.ProcessEnv = { DLQ_RETRY_AUTO_RETRY: 'false' }
const fleet = useFleet('schemas', { env })
let registry: Apicurio | null = null
let release: AsyncDisposableStack | undefined

beforeAll(async () => {
  await using stack = new AsyncDisposableStack()
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  const say = (line: string) => process.stderr.write(`${line}\n`)
  registry = await startApicurio({ reaper, logFile: join(logs.path, 'apicurio.log'), say })
  if (registry !== null) {
    stack.use(registry)
    env.DLQ_CONFIG = join(logs.path, 'config.yaml')
    const section = { registries: [{ name: 'main', url: registry.confluentUrl, timeout: '1s' }] }
    writeFileSync(env.DLQ_CONFIG, JSON.stringify({ schemas: section }))
  }
  await fleet.services.startAll()
  release = stack.move()
})
afterAll(() => release?.disposeAsync())

type Message = { id: string; payload: unknown; decoding: { state: string; schema: { name: string } | null } | null }

async function list(query: string): Promise<Message[]> {
  const answer = await fleet.services.request(`/api/v1/messages?topic=${fleet.original}&limit=1000&${query}`)
  return (answer.json() as { messages: Message[] }).messages
}

const produce = (values: readonly Buffer[]) =>
  fleet.producer.send({ topic: fleet.dlq, messages: values.map((value) => ({ value })) })

test('Avro of a real registry is decoded, searched, edited, sent, and outlives its schema', async ({ skip }) => {
  skip(registry === null, 'no Java: Apicurio cannot run here')
  const schemaId = await registry!.register('orders-value', { schema: orderSchema })
  await produce([orderBytes(schemaId, 'order-1', 42), Buffer.from('{"id":"plain"}')])

  // The first one was stored before its schema was known: the API decodes it, and the job "decode" stores that.
  await eventually(async () => {
    const found = await list('')
    // In any order: both were written in one moment, perhaps to two partitions.
    const payloads = found.map(({ payload }) => JSON.stringify(payload))
    expect(payloads.toSorted()).toEqual(['{"id":"order-1","cents":42,"note":null}', '{"id":"plain"}'])
  })
  await produce([orderBytes(schemaId, 'order-2', 43)])
  await eventually(async () => {
    const [found] = await list(`payload=${encodeURIComponent('{"cents":43}')}`)
    expect(found).toMatchObject({
      payload: { id: 'order-2' },
      decoding: { state: 'decoded', schema: { name: 'com.example.Order' } },
    })
  })

  const [{ id }] = (await list(`payload=${encodeURIComponent('{"cents":43}')}`)) as [Message]
  const path = `/api/v1/dlq/messages/${id}`
  const edited = await fleet.services.request(path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': '*' },
    body: JSON.stringify({ patch: [{ op: 'replace', path: '/cents', value: 44 }], reason: 'the price was wrong' }),
  })
  expect(edited).toMatchObject({ status: 200 })
  const retried = await fleet.services.request(`${path}/retry`, { method: 'POST' })
  expect(retried.json()).toMatchObject({ status: 'RESOLVED' })
  const [record] = await readTopic(fleet.topics.kafka, {
    topic: fleet.original,
    groupId: fleet.topics.groupName('sent'),
  })
  expect(record!.value).toEqual(orderBytes(schemaId, 'order-2', 44))

  for (const permanent of ['', '?permanent=true'])
    await fetch(`${registry!.confluentUrl}/subjects/orders-value${permanent}`, { method: 'DELETE' })
  await fleet.services.get('api').stop('SIGTERM', 30_000)
  await (await fleet.services.start('api')).ready()
  expect((await fleet.services.request(path)).json()).toMatchObject({ payload: { id: 'order-2', cents: 44 } })
})

// A minute, most of it waits; fetch-schemas.pg.test.ts has a registry that hangs.
test.runIf(soak)(
  'while the registry hangs, everything else goes on, and what waited is decoded afterwards',
  async ({ skip }) => {
    skip(registry === null, 'no Java: Apicurio cannot run here')
    const schemaId = await registry!.register('late-value', { schema: orderSchema.replace('"Order"', '"Late"') })
    registry!.process.child.kill('SIGSTOP')
    try {
      const records = 2000
      const values = Array.from({ length: records }, (_, n) => orderBytes(schemaId, `late-${n}`, n % 60))
      await produce(values)
      const waiting = () => fleet.database.sql`select id from dlq.dlq_messages where decode_state = 2`
      await eventually(async () => expect(await waiting()).toHaveLength(records))
      const [message] = await waiting()
      const detail = await fleet.services.request(`/api/v1/dlq/messages/${message!.id}`)
      expect(detail.json()).toMatchObject({ payload: null, decoding: { state: 'waiting' } })
      const retried = await fleet.services.request(`/api/v1/dlq/messages/${message!.id}/retry`, { method: 'POST' })
      expect(retried.json()).toMatchObject({ status: 'RESOLVED' })
    } finally {
      registry!.process.child.kill('SIGCONT')
    }
    await fleet.database.sql`update dlq.dlq_schemas set next_try_at = now() where state <> 'known'`
    await eventually(async () => {
      const [{ known }] = (await fleet.database.sql`
      select count(*)::int as known from dlq.dlq_schemas where name = 'com.example.Late'`) as unknown as [
        { known: number },
      ]
      expect(known).toBe(1)
    })
    await fleet.services.request('/api/v1/cron/decode/run', { method: 'POST' })
    await eventually(async () => {
      const [{ decoded }] = (await fleet.database.sql`
      select count(*)::int as decoded from dlq.dlq_messages where payload->>'id' like 'late-%' and decode_state = 1`) as unknown as [
        { decoded: number },
      ]
      expect(decoded).toBe(2000)
    })
  },
)

test('both interfaces of a real registry give a schema with its references', async ({ skip }) => {
  skip(registry === null, 'no Java: Apicurio cannot run here')
  const money = '{"type":"record","name":"Money","namespace":"acme","fields":[{"name":"cents","type":"long"}]}'
  const bill = '{"type":"record","name":"Bill","namespace":"acme","fields":[{"name":"total","type":"acme.Money"}]}'
  await registry!.register('money-value', { schema: money })
  const references = [{ name: 'acme.Money', subject: 'money-value', version: 1 }]
  const id = String(await registry!.register('bills-value', { schema: bill, references }))
  const [main] = schemasSection({ url: registry!.confluentUrl }).registries
  const deps = { log: createLog({ service: 'test', level: 'silent' }), env: {}, now: Date.now }
  const known = { kind: 'known', schema: { type: 'avro', references: [expect.stringContaining('"Money"')] } }
  expect(await createRegistryClient(main!, deps)({ kind: 'id', id })).toMatchObject(known)
  expect(await createRegistryClient(main!, deps)({ kind: 'id', id: '999999' })).toMatchObject({ kind: 'missing' })
  const native = createRegistryClient({ ...main!, type: 'apicurio', url: registry!.nativeUrl }, deps)
  expect(await native({ kind: 'content', id })).toMatchObject(known)
  expect(await native({ kind: 'content', id: '999999' })).toMatchObject({ kind: 'missing' })
})
