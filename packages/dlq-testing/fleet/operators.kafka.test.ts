// The work of operators on a whole fleet behind a pooler: an incident from the first look to its end by the commands of
// infra/docs/api.md, and two operators who change the same messages without knowing of each other.
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createDlqClient, dataOf } from 'dlq-client/api-client.ts'
import { deadLetter } from 'dlq-client/dead-letter.ts'
import { eachMessage } from 'dlq-client/each.ts'
import { openDocumentShell } from 'dlq-testing/documents/document-shell.ts'
import { shellBlocks } from 'dlq-testing/documents/shell-blocks.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { startPooler } from 'dlq-testing/pooling/pgbouncer.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import fc from 'fast-check'
import type { Consumer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const isSoak = process.env.DLQ_SOAK === '1'
const fleet = useFleet('operators', {
  env: { DLQ_RETRY_INITIAL_DELAY: '50ms', DLQ_RETRY_MULTIPLIER: '1', DLQ_RETRY_MAX_RETRIES: '1' },
})
const thisFile = 'packages/dlq-testing/fleet/operators.kafka.test.ts'
const page = fileURLToPath(new URL('../../../infra/docs/api.md', import.meta.url))

/** Amounts that were taken, by order. */
const taken = new Map<string, number>()
let consumer: Consumer | undefined
afterAll(() => consumer?.disconnect())

class InvalidAmountException extends Error {}

let pooler: Awaited<ReturnType<typeof startPooler>> | undefined
afterAll(async () => {
  await fleet.services.stop()
  await pooler?.close()
})

beforeAll(async () => {
  // The API and the retrier connect through a pooler in transaction mode, as in many companies; in the soak PgBouncer.
  pooler = await startPooler(fleet.database.url, { size: 8 })
  const env = { DATABASE_URL: pooler.url, DLQ_DATABASE_PREPARE: 'false' }
  const started = await Promise.all([
    fleet.services.start('ingester'),
    fleet.services.start('api', 'api', env),
    fleet.services.start('retrier', 'retrier-1', env),
    fleet.services.start('retrier', 'retrier-2', env),
  ])
  await Promise.all(started.map((service) => service.ready()))
  const group = fleet.topics.groupName('payments')
  consumer = fleet.topics.kafka.consumer({ groupId: group, maxWaitTimeInMs: 50 })
  await consumer.connect()
  await consumer.subscribe({ topics: [fleet.original], fromBeginning: true })
  await consumer.run({
    eachMessage: async (record) => {
      try {
        if (!record.message.key?.toString().startsWith('order-')) return
        const { order_id, amount } = JSON.parse(String(record.message.value))
        if (amount < 0) throw new InvalidAmountException(`amount ${amount} of order ${order_id} is negative`)
        taken.set(order_id, amount)
      } catch (error) {
        await deadLetter(fleet.producer, record, { error, consumerGroup: group, dlqTopic: fleet.dlq })
      }
    },
  })
})

test('an incident is seen, grouped, edited, retried and verified with the commands of the documentation', async () => {
  const order = { order_id: 'order-7', amount: -5 }
  const sent = {
    key: order.order_id,
    value: JSON.stringify(order),
    headers: [
      ['trace', Buffer.from('abc')],
      ['none', null],
    ] as [string, Buffer | null][],
  }
  await fleet.producer.send({ topic: fleet.original, messages: [sent] })
  const client = createDlqClient({ baseUrl: fleet.services.get('api').url })
  const found = await eventually(async () => {
    const [only, ...others] = await Array.fromAsync(eachMessage(client, { topic: fleet.dlq }))
    // Sent, failed, retried, and failed again: one message, because deadLetter() kept our headers.
    expect(others).toEqual([])
    expect(only).toMatchObject({ status: 'DEAD', retry_count: 1, failure_count: 2 })
    return only!
  })
  const detail = await dataOf(client.GET('/api/v1/dlq/messages/{id}', { params: { path: { id: found.id } } }))
  expect(detail).toMatchObject({
    error_class: 'InvalidAmountException',
    error_message: 'amount -5 of order order-7 is negative',
    error_stacktrace: expect.stringContaining('operators.kafka.test.ts'),
    original: { topic: fleet.original, topic_source: 'header', partition: 0 },
    key: { value: 'order-7' },
    headers: expect.arrayContaining([
      { name: 'trace', value: 'abc', encoding: 'text' },
      { name: 'none', value: null, encoding: 'text' },
    ]),
  })

  await using shell = openDocumentShell({ cwd: '/', env: { API: fleet.services.get('api').url } })
  const said: string[] = []
  for (const { text, runIn } of shellBlocks(page)) if (runIn === thisFile) said.push(await shell.run(text))
  const [, seen, grouped, one, edited, retried, verified, ended] = said
  expect(seen).toContain('"DEAD":1')
  expect(seen).toContain(found.id)
  expect(grouped).toContain('"owner":"maria"')
  expect(one).toContain(`"id":"${found.id}"`)
  expect(edited).toContain('"payload":{"amount": 5, "order_id": "order-7"}')
  expect(retried).toContain('SYS_DLQ_CONFLICT')
  expect(retried).toContain('"status":"RESOLVED"')
  expect(verified).toMatch(/"outcome":"published".*"failed_again":null/s)
  expect(verified).toContain('"action":"message.retry_forced"')
  expect(ended).toContain('"dry_run":true')
  expect(ended).toContain('0 messages retried')
  expect(ended).toContain('"state":"resolved"')

  await eventually(() => expect(Object.fromEntries(taken)).toEqual({ 'order-7': 5 }))
  expect(await readMessageRow(fleet.database.sql, found.id)).toMatchObject({ status: 'RESOLVED', failure_count: 2 })
})

type Step = 'edit' | 'retarget' | 'retry' | 'dead' | 'revive' | 'wait'
const operator = fc.array(fc.constantFrom<Step>('edit', 'edit', 'retarget', 'retry', 'dead', 'revive', 'wait'), {
  minLength: 2,
  maxLength: 6,
})

/** One operator's steps: those that changed something, and their answers. */
type Accepted = { step: Step; value?: string }

async function work(
  id: string,
  { name, target, steps }: { name: string; target: string; steps: readonly Step[] },
): Promise<Accepted[]> {
  const accepted: Accepted[] = []
  const url = `${fleet.services.get('api').url}/api/v1/dlq/messages/${id}`
  for (const [number, step] of steps.entries()) {
    if (step === 'wait') {
      await sleep(20)
      continue
    }
    const etag = (await fetch(url)).headers.get('etag')!
    const value = `${name} ${number}`
    const body = { edit: { value: { text: value }, reason: name }, retarget: { target_topic: target, reason: name } }
    const change = step === 'edit' || step === 'retarget' ? body[step] : null
    const response = await fetch(change ? url : `${url}/${step}`, {
      method: change ? 'PATCH' : 'POST',
      headers: { 'content-type': 'application/json', 'if-match': etag, prefer: 'wait=0' },
      body: JSON.stringify(change ?? { reason: name }),
    })
    // One wins; the other is told so.
    expect([200, 202, 409, 412], `${step}: ${response.status} ${await response.text()}`).toContain(response.status)
    const changed = response.ok && (change === null || response.headers.get('etag') !== etag)
    if (changed) accepted.push({ step, ...(step === 'edit' && { value }) })
  }
  return accepted
}

const actionOf: Record<string, string> = {
  edit: 'message.edit',
  retarget: 'message.edit',
  dead: 'message.dead',
  revive: 'message.revive',
}

/** The audit and the edits of a message hold exactly the accepted changes. */
async function expectTold(id: string, accepted: Readonly<Record<string, Accepted[]>>): Promise<void> {
  const { sql } = fleet.database
  const entries = await sql<{ action: string; reason: string }[]>`
    select action, reason from dlq.dlq_audit where target_id = ${id} order by id`
  for (const [name, changes] of Object.entries(accepted)) {
    const told = entries.filter(({ reason }) => reason === name).map(({ action }) => action)
    // A retry of a message that was being sent already changed nothing.
    const retries = changes.filter(({ step }) => step === 'retry').length
    expect(told.filter((action) => action === 'message.retry').length).toBeLessThanOrEqual(retries)
    expect(told.filter((action) => action !== 'message.retry')).toEqual(
      changes.filter(({ step }) => step !== 'retry').map(({ step }) => actionOf[step]),
    )
  }
  // Each edit keeps the values that it replaced, from the original record to the record that was sent.
  const all = Object.values(accepted).flat()
  const edits = await sql`
    select convert_from(record_value, 'UTF8') as value from dlq.dlq_message_edits where message_id = ${id} order by number`
  expect(edits).toHaveLength(all.filter(({ step }) => step === 'edit' || step === 'retarget').length)
  const { record_value } = await readMessageRow(sql, id)
  const versions = [...edits.map(({ value }) => value), record_value.toString()]
  expect(versions[0]).toBe('as it came')
  expect(new Set(versions)).toEqual(new Set(['as it came', ...all.flatMap(({ value }) => value ?? [])]))
}

/** Has the message sent, if it was not. */
async function finish(id: string): Promise<void> {
  for (;;) {
    const { status } = await readMessageRow(fleet.database.sql, id)
    if (status === 'RESOLVED') return
    if (status === 'DEAD') await fleet.services.request(`/api/v1/dlq/messages/${id}/revive`, { method: 'POST' })
    await fleet.services.request(`/api/v1/dlq/messages/${id}/retry`, { method: 'POST' })
  }
}

test('consumers see only the last version, in its last target topic, of a message that two operators change at random', async () => {
  const targets = { maria: await fleet.topics.createTopic('maria'), jun: await fleet.topics.createTopic('jun') }
  const expected = new Map<string, { topic: string; value: string }>()
  await fc.assert(
    fc.asyncProperty(operator, operator, async (first, second) => {
      const id = await insertMessageRow(fleet.database.sql, {
        original_topic: fleet.original,
        original_topic_source: 'header',
        dlq_topic: fleet.dlq,
        record_value: Buffer.from('as it came'),
        record_headers: [],
        max_retries: 100,
      })
      const [maria, jun] = await Promise.all([
        work(id, { name: 'maria', target: targets.maria, steps: first }),
        work(id, { name: 'jun', target: targets.jun, steps: second }),
      ])
      await finish(id)
      await expectTold(id, { maria, jun })
      const { target_topic, record_value } = await readMessageRow(fleet.database.sql, id)
      expected.set(id, { topic: target_topic ?? fleet.original, value: record_value.toString() })
    }),
    { numRuns: isSoak ? 1000 : 6, endOnFailure: true },
  )

  const seen: [id: string, sent: { topic: string; value: string }][] = []
  for (const topic of [fleet.original, ...Object.values(targets)]) {
    const records = await readTopic(fleet.topics.kafka, { topic, groupId: fleet.topics.groupName('reader') })
    for (const { headers, value } of records) {
      const id = headers?.['dlq-message-id']?.toString()
      if (id !== undefined && expected.has(id)) seen.push([id, { topic, value: String(value) }])
    }
  }
  // A list first: a map would hide that a message was sent twice.
  expect(seen.map(([id]) => id).toSorted()).toEqual([...expected.keys()].toSorted())
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected))
})
