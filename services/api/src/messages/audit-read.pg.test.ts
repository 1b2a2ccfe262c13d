// Who was shown payloads is in the audit, where the configuration wants it there.
import { toJsonSchema } from '@valibot/to-json-schema'
import { expect, test } from 'vitest'
import { allRoutes } from '../routes/all-routes.ts'
import { path, record, useChanges } from '../routes/messages/test-changes.ts'
import { createTestApp, type TestAppOptions } from '../test-app.ts'

const { database, service, insert } = useChanges()

const entries = async () => [
  ...(await database.sql`
    select action, target_type, target_id, original_topic, dlq_topic, after from dlq.dlq_audit order by id`),
]

const ask = async (request: string, settings: TestAppOptions = { auditReads: 'payloads' }) => {
  const answer = await createTestApp(service.sql, settings)(request)
  await answer.text()
  return answer.status
}

test('every request that is shown a payload has an entry, without what it searched for in payloads', async () => {
  const id = await insert(record)
  const about = {
    target_type: 'message',
    target_id: id,
    original_topic: 'orders.events.v1',
    dlq_topic: 'orders.dlq.v1',
  }
  expect(await ask(`GET ${path(id)}`)).toBe(200)
  expect(await ask(`GET ${path(id, '/value')}`)).toBe(200)
  expect(await ask('GET /api/v1/dlq/orders.dlq.v1?page_size=5')).toBe(200)
  expect(await ask('GET /api/v1/messages/export?key=order-1&status=PENDING')).toBe(200)
  const none = { original_topic: null, dlq_topic: null }
  expect(await entries()).toEqual([
    { action: 'message.read', ...about, after: { path: '/api/v1/dlq/messages/:id' } },
    { action: 'message.read', ...about, after: { path: '/api/v1/dlq/messages/:id/value' } },
    {
      ...{ action: 'messages.read', target_type: 'topic', target_id: 'orders.dlq.v1', ...none },
      after: { path: '/api/v1/dlq/:topic', query: { page_size: 5 } },
    },
    {
      ...{ action: 'messages.read', target_type: 'messages', target_id: '*', ...none },
      after: { path: '/api/v1/messages/export', query: expect.objectContaining({ key: '…' }) },
    },
  ])
})

test('a request that is shown nothing has no entry, and without the setting none has', async () => {
  const id = await insert(record)
  expect(await ask(`GET ${path(crypto.randomUUID())}`)).toBe(404)
  expect(await ask(`GET ${path(id, '/attempts')}`)).toBe(200)
  expect(await ask(`GET ${path(id)}`, { auditReads: 'none' })).toBe(200)
  expect(await entries()).toEqual([])
})

test('where the entry cannot be written, nothing is shown', async () => {
  const id = await insert(record)
  await database.sql.unsafe('alter table dlq.dlq_audit add constraint refuse check (actor is null) not valid')
  try {
    expect(await ask(`GET ${path(id)}`)).toBe(500)
  } finally {
    await database.sql.unsafe('alter table dlq.dlq_audit drop constraint refuse')
  }
})

test('no route shows payloads without saying so', () => {
  const showing = allRoutes.filter(({ method, answers }) => {
    const schemas = Object.values(answers).flatMap(({ schema, types }) => [
      ...(schema ? [JSON.stringify(toJsonSchema(schema, { errorMode: 'ignore' }))] : []),
      ...(types?.includes('application/octet-stream') || types?.includes('text/csv') ? ['"payload":'] : []),
    ])
    return method === 'get' && schemas.some((text) => /"(payload|record_value)":|"value":\{"anyOf"/.test(text))
  })
  const paths = (routes: readonly { path: string }[]) => routes.map(({ path }) => path).toSorted()
  // Of a saga, a policy and a topic, "payload" is another thing; of a run and of facets, it is what a filter asks for.
  const others = /^\/api\/v1\/(sagas|policies|topics|runs$|runs\/:id$|messages\/facets$)/
  expect(paths(showing.filter(({ path }) => !others.test(path)))).toEqual(
    paths(allRoutes.filter(({ method, showsPayloads }) => method === 'get' && showsPayloads)),
  )
})
