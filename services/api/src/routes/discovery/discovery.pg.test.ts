// Candidates and subscriptions as people see and change them; the ingester's part is played by rows.

import { createHash } from 'node:crypto'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import {
  recordCandidateLooks,
  recordCandidateReaders,
  recordCandidates,
} from 'dlq-core/queries/discovery/candidates.ts'
import { answerSample, takeSampleRequest } from 'dlq-core/queries/discovery/samples.ts'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, createTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const cluster = 'c'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const auth = {
  tokens: [
    { name: 'admin', role: 'sys_admin' as const, sha256: sha256('secret-admin') },
    { name: 'payments', role: 'sys_admin' as const, sha256: sha256('secret-payments'), topics: ['payments*'] },
  ],
}
const request = (methodAndPath: string, name: string, body?: object) =>
  createTestApp(service.sql, { auth })(methodAndPath, {
    headers: { authorization: `Bearer secret-${name}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
// biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used
const ask = async (methodAndPath: string, body?: object, name = 'admin'): Promise<any> =>
  answerOf(request(methodAndPath, name, body))

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_candidates', 'dlq.dlq_candidate_readers', 'dlq.dlq_subscriptions')
  await emptyTables(database.sql, 'dlq.dlq_topics', 'dlq.dlq_positions', 'dlq.dlq_samples', 'dlq.dlq_audit')
  await emptyTables(database.sql, 'dlq.dlq_messages')
  await recordCandidates(service.sql, {
    cluster,
    found: [
      { topic: 'orders-dlt', confidence: 'name' },
      { topic: 'payments_error', confidence: 'weak' },
    ],
  })
  await recordCandidateLooks(service.sql, {
    cluster,
    looks: [
      {
        ...{ topic: 'orders-dlt', partitions: 3, records_at_most: 7000n, oldest: 1_700_000_000_000, newest: null },
        ...{ family: 'spring-dlt', retention_ms: 1000n, retention_bytes: -1n, cleanup_policy: 'delete' },
      },
    ],
  })
})

const namesOf = (answer: { body: { topics: { topic: string }[] } }) => answer.body.topics.map(({ topic }) => topic)

describe('candidates', () => {
  test('are listed with what is known of them, and to a limited token those of its topics', async () => {
    await recordCandidateReaders(service.sql, [{ topic: 'orders-dlt', consumer_group: 'orders-dlt-handler' }])
    const { body } = await ask('GET /api/v1/topics?kind=candidate')
    expect(body.topics[0]).toMatchObject({
      ...{ topic: 'orders-dlt', kind: 'candidate', ingestion: null },
      candidate: {
        ...{ confidence: 'headers', family: 'spring-dlt', guessed_original: 'orders', partitions: 3 },
        ...{ records_at_most: '7000', oldest_at: '2023-11-14T22:13:20.000+00:00', newest_at: null },
        ...{ retention_ms: '1000', read_by: ['orders-dlt-handler'] },
      },
    })
    expect(namesOf(await ask('GET /api/v1/topics?kind=candidate', undefined, 'payments'))).toEqual(['payments_error'])
    expect(namesOf(await ask('GET /api/v1/topics?kind=candidate&limit=1'))).toEqual(['orders-dlt'])
    const { next_cursor: cursor } = (await ask('GET /api/v1/topics?kind=candidate&limit=1')).body
    expect(namesOf(await ask(`GET /api/v1/topics?kind=candidate&limit=1&cursor=${cursor}`))).toEqual(['payments_error'])
  })

  test('that are dismissed are left out, with an audit, until that is taken back', async () => {
    const dismiss = (body: object, name = 'admin') => ask('POST /api/v1/topics/orders-dlt/dismiss', body, name)
    expect((await dismiss({ reason: 'not ours' }, 'payments')).status).toBe(403)
    expect((await dismiss({ reason: 'not ours' })).body.candidate).toMatchObject({ dismissed_reason: 'not ours' })
    expect(namesOf(await ask('GET /api/v1/topics?kind=candidate'))).toEqual(['payments_error'])
    expect(namesOf(await ask('GET /api/v1/topics?kind=candidate&only=dismissed'))).toEqual(['orders-dlt'])
    const [entry] = (await ask('GET /api/v1/audit')).body.entries
    expect(entry).toMatchObject({ action: 'candidate.dismiss', target_id: 'orders-dlt', reason: 'not ours' })
    await dismiss({ dismissed: false })
    expect(namesOf(await ask('GET /api/v1/topics?kind=candidate'))).toEqual(['orders-dlt', 'payments_error'])
    expect((await ask('POST /api/v1/topics/orders/dismiss', {})).status).toBe(404)
  })

  test('show what an ingester reads of them, which is kept nowhere', async () => {
    const asked = ask('POST /api/v1/topics/orders-dlt/sample')
    const taken = await eventually(async () => {
      const request = await takeSampleRequest(service.sql, { cluster })
      expect(request).not.toBeNull()
      return request!
    })
    expect(taken.topic).toBe('orders-dlt')
    const record = {
      ...{ partition: 0, offset: '1', timestamp: null, key_bytes: null, value_bytes: 3, family: 'spring-dlt' },
      ...{ original_topic: 'orders', original_topic_source: 'header', original_partition: 0, original_offset: '7' },
      ...{ consumer_group: null, error_class: null, error_message: 'no', header_names: [] },
    }
    const answer = JSON.stringify({ readable: true, newest: [record], oldest: [] })
    await answerSample(service.sql, { id: taken.id, answer })
    expect(await asked).toMatchObject({
      status: 200,
      body: { families: { 'spring-dlt': 1 }, shares: { origin: 1, group: 0, key: 0 }, newest: [record] },
    })
    expect(await database.sql`select from dlq.dlq_samples`).toHaveLength(0)
  })

  test('tell no sizes of keys and values that masks hide', async () => {
    const masks = createMasks(
      [{ topics: ['orders'], hide: ['/iban'], key: 'hide', headers: [], errors: [] }],
      undefined,
    )
    const headers = { authorization: 'Bearer secret-admin' }
    const asked = createTestApp(service.sql, { auth, masks })('POST /api/v1/topics/orders-dlt/sample', { headers })
    const taken = await eventually(async () => {
      const request = await takeSampleRequest(service.sql, { cluster })
      expect(request).not.toBeNull()
      return request!
    })
    const record = {
      ...{ partition: 0, offset: '1', timestamp: null, key_bytes: 6, value_bytes: 3, family: 'spring-dlt' },
      ...{ original_topic: 'orders', original_topic_source: 'header', original_partition: 0, original_offset: '7' },
      ...{ consumer_group: null, error_class: null, error_message: null, header_names: [] },
    }
    const answer = JSON.stringify({ readable: true, newest: [record], oldest: [] })
    await answerSample(service.sql, { id: taken.id, answer })
    const hidden = ['/value_bytes', '/key_bytes']
    expect(await answerOf(asked)).toMatchObject({
      body: { shares: { key: 1 }, newest: [{ ...record, key_bytes: null, value_bytes: null, hidden }] },
    })
  })

  test('are not waited for longer than the request prefers', async () => {
    // Whoever waits longer is told something else after this time.
    const app = createTestApp(service.sql, { auth, requestTimeoutMs: 5000, retryWaitMs: 0 })
    const headers = { authorization: 'Bearer secret-admin', prefer: 'wait=0' }
    expect(await answerOf(app('POST /api/v1/topics/orders-dlt/sample', { headers }))).toMatchObject({
      ...{ status: 503, body: { error: { code: 'SYS_DLQ_KAFKA_UNAVAILABLE' } } },
    })
    expect(await database.sql`select from dlq.dlq_samples`).toHaveLength(0)
  })

  test('are read for one token while another asks for many', async () => {
    const app = createTestApp(service.sql, { auth, requestTimeoutMs: 5000, retryWaitMs: 0 })
    const sample = (topic: string, name: string) => {
      const headers = { authorization: `Bearer secret-${name}`, prefer: 'wait=1' }
      return app(`POST /api/v1/topics/${topic}/sample`, { headers })
    }
    const many = Array.from({ length: 25 }, () => sample('orders-dlt', 'admin'))
    await eventually(async () => expect(await database.sql`select from dlq.dlq_samples`).toHaveLength(3))
    expect((await sample('payments_error', 'payments')).status).toBe(503)
    const statuses = (await Promise.all(many)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([...Array(22).fill(429), ...Array(3).fill(503)])
    // Nothing is held any longer.
    expect((await sample('orders-dlt', 'admin')).status).toBe(503)
  })

  test('alone are sampled: nobody looks into any topic', async () => {
    expect((await ask('POST /api/v1/topics/orders/sample')).status).toBe(404)
    expect((await ask('POST /api/v1/topics/orders-dlt/sample', undefined, 'payments')).status).toBe(404)
  })
})

describe('a subscription', () => {
  const add = (body: object, query = '') => ask(`POST /api/v1/subscriptions${query}`, body)

  test('is planned without a change, added and deleted with an audit', async () => {
    expect(await add({ pattern: 'orders-*' }, '?dry_run=true')).toEqual({
      status: 200,
      body: {
        topics: [{ topic: 'orders-dlt', cluster, ingested: false, will_be_ingested: true, records_at_most: '7000' }],
        estimate: { records_at_most: '7000', seconds: 2, bytes: '19600000' },
      },
    })
    expect((await ask('GET /api/v1/subscriptions')).body.subscriptions).toEqual([])
    const { status, body } = await add({ pattern: 'orders-dlt', reason: 'ours' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ mode: 'ingest', start: 'earliest', backlog: 'manual', created_by: 'admin' })
    expect((await ask('GET /api/v1/subscriptions')).body.subscriptions).toEqual([body])
    expect((await add({ pattern: 'orders-dlt', mode: 'ignore' })).status).toBe(409)
    expect((await ask(`DELETE /api/v1/subscriptions/${body.id}`)).body).toEqual(body)
    expect((await ask(`DELETE /api/v1/subscriptions/${body.id}`)).status).toBe(404)
    const actions = (await ask('GET /api/v1/audit')).body.entries.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(['subscription.delete', 'subscription.add'])
  })

  test.each([
    [{ pattern: '*' }, 'pattern'],
    [{ pattern: 'a b' }, 'pattern'],
    [{ pattern: '__consumer_offsets' }, 'pattern'],
    [{ pattern: 'ship*' }, 'pattern'],
    [{ pattern: '*.failed', original: '$1.$2' }, 'original'],
    [{ pattern: 'x', start: 'time' }, 'start_at'],
    [{ pattern: 'x', start_at: '2026-01-01T00:00:00Z' }, 'start_at'],
    [{ pattern: 'x', start: 'time', start_at: '2999-01-01T00:00:00Z' }, 'start_at'],
    [{ pattern: 'x', backlog: 'all' }, 'backlog'],
    [{ pattern: 'x', cluster: 'a\0' }, 'cluster'],
  ])('%j is refused, and the answer names the field', async (body, field) => {
    await insertMessageRow(database.sql, { original_topic: 'shipments', dlq_topic: 'shipments-dlt' })
    const { status, body: answer } = await add(body)
    expect(status).toBe(400)
    expect(answer.error.details).toMatchObject([{ field }])
  })

  test('makes its topic one that nothing is sent to, also before an ingester has found it', async () => {
    const id = await insertMessageRow(database.sql, { original_topic: 'shipments', dlq_topic: 'shipments-dlt' })
    await add({ pattern: 'odd-name' })
    const { status, body } = await answerOf(
      createTestApp(service.sql, { auth })(`PATCH /api/v1/dlq/messages/${id}`, {
        headers: { authorization: 'Bearer secret-admin', 'content-type': 'application/json', 'if-match': '*' },
        body: JSON.stringify({ target_topic: 'odd-name', reason: 'a try' }),
      }),
    )
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('DLQ topic')
  })
})

test('what is wrong with a DLQ topic in Kafka is said', async () => {
  await recordTopics(service.sql, { cluster, found: [{ topic: 'a.dlq.v1', topic_id: null, partitions: 1 }] })
  const faults = async () =>
    (await ask('GET /api/v1/topics/a.dlq.v1')).body.faults.map((of: { kind: string }) => of.kind)
  expect(await faults()).toEqual([])
  await database.sql`
    update dlq.dlq_topics set cleanup_policy = 'compact,delete', max_message_bytes = 100, original_max_bytes = 100,
      missing_originals = '{a}', found_at = now() - interval '31 days'`
  expect(await faults()).toEqual(['compacted', 'original_gone', 'quiet', 'too_small'])
  // Something waits to be read.
  await database.sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset)
    values (${cluster}, 'a.dlq.v1', 0, 0, 5)`
  expect(await faults()).not.toContain('quiet')
})
