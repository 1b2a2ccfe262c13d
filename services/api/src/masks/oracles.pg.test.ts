// No answer tells of a hidden value: whatever it is, every filter, patch and cursor answers the same.
import { createHash } from 'node:crypto'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '../test-app.ts'
import {
  canaryDlqTopic,
  canaryMasks,
  canaryTopic,
  type Planted,
  plantCanary,
  plantedHeaders,
  plantedValue,
} from './test-canary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const token = (name: string, rest: object) => ({
  ...{ name, role: 'sys_admin' as const, ...rest },
  sha256: createHash('sha256').update(`secret-${name}`).digest('hex'),
})
const auth = {
  tokens: [
    token('masked', {}),
    token('none', { payloads: 'none' }),
    token('full', { payloads: 'full' }),
    token('no-exports', { exports: false }),
  ],
}

let planted: Planted
let app: TestApp
beforeAll(async () => {
  planted = await plantCanary(database, service.sql)
  app = createTestApp(service.sql, { auth, masks: createMasks(canaryMasks, undefined) })
})

const ask = async (methodAndPath: string, body?: object, name = 'masked') => {
  const headers = { authorization: `Bearer secret-${name}`, 'if-match': '*', 'x-request-id': 'same' }
  const answer = await app(methodAndPath, {
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, headers: [...answer.headers].sort(), text: await answer.text() }
}

const hidden = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  fc.integer(),
  fc.constantFrom(null, true, {}, [], { email: 'x' }, ['x']),
)
const address = fc
  .tuple(fc.stringMatching(/^[a-z]{1,20}$/), fc.stringMatching(/^[a-z]{1,20}$/))
  .map((parts) => `${parts.join('@')}.example`)

/** Gives the hidden places of all planted rows other values; nothing else changes, not even the times. */
async function hide(value: unknown, mail: string): Promise<void> {
  const payload = plantedValue(value)
  await database.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    for (const table of ['dlq.dlq_messages', 'dlq.dlq_messages_archive'])
      await sql`
        update ${sql(table)} set
          payload = case when payload is null then null
            else ${sql.json(payload as never)}::jsonb || coalesce(jsonb_build_object('padding', payload -> 'padding'), '{}') end,
          record_value = case when payload is null then ${Buffer.from(`plain ${mail}`)}::bytea else ${Buffer.from(JSON.stringify(payload))}::bytea end,
          record_key = ${Buffer.from(mail)}, record_headers = ${sql.json(plantedHeaders(mail) as never)},
          error_message = ${`no such customer: ${mail}`}, error_stacktrace = ${`com.example.NoSuchCustomer: ${mail}\n\tat x`}`
  })
}

const path = (id: string) => `/api/v1/dlq/messages/${id}`
const encoded = (value: unknown) => encodeURIComponent(JSON.stringify(value))

/** Requests whose answers might depend on what is hidden. */
function questions(value: unknown, mail: string): [methodAndPath: string, body?: object][] {
  const { id, text, large, archived } = planted
  const filters = [
    '',
    `payload=${encoded({ customer: { email: value } })}`,
    `payload=${encoded({ cards: [{ number: value }] })}`,
    `payload=${encoded({ lines: [{ more: { secret: value } }] })}`,
    `payload=${encoded({ order_id: '123' })}`,
    `payload=${encoded({ customer: { name: 'maria' } })}`,
    `key=${encodeURIComponent(mail)}`,
    `key=${encodeURIComponent(`base64:${Buffer.from(mail).toString('base64')}`)}`,
    `q=${encodeURIComponent(mail.slice(0, 3))}`,
  ]
  const patch = (operation: object) => ({ patch: [operation] })
  const patches = [
    { op: 'test', path: '/customer/email', value },
    { op: 'test', path: '/customer', value: { name: 'maria', email: value } },
    { op: 'test', path: '/lines/0/more/secret', value },
    { op: 'copy', from: '/customer/email', path: '/order_id' },
    { op: 'move', from: '/lines/0/more', path: '/x' },
    { op: 'replace', path: '/cards/0', value: {} },
    // An allowed one that fails, so that nothing changes.
    { op: 'test', path: '/order_id', value: 'another' },
    { op: 'remove', path: '/no/such/place' },
  ]
  return [
    ...filters.flatMap((filter) =>
      [
        '/api/v1/messages?limit=2',
        '/api/v1/messages?archived=true',
        '/api/v1/messages?show=preview',
        '/api/v1/messages/export?format=csv',
        '/api/v1/messages/facets?by=error_class',
        '/api/v1/activity?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
        '/api/v1/attempts?limit=1',
      ].map((list): [string] => [`GET ${list}${filter && `&${filter}`}`]),
    ),
    ...[id, text, large, archived].map((id): [string] => [`GET ${path(id)}`]),
    ...['/key', '/value', '/edits', '/edits/1', '/attempts'].map((part): [string] => [`GET ${path(id)}${part}`]),
    ...patches.map((operation): [string, object] => [`PATCH ${path(id)}`, patch(operation)]),
    ...patches.map((operation): [string, object] => [
      'POST /api/v1/runs',
      { kind: 'edit', selection: { filter: { topic: canaryDlqTopic } }, dry_run: true, ...patch(operation) },
    ]),
    [
      'POST /api/v1/runs',
      { kind: 'dead', selection: { filter: { payload: { customer: { email: value } } } }, dry_run: true },
    ],
    ['GET /api/v1/groups?q=customer'],
  ]
}

test('two databases that differ only in what masks hide give equal answers', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(hidden, hidden),
      fc.tuple(address, address),
      fc.boolean(),
      async (values, mails, guess) => {
        const asked = questions(values[guess ? 0 : 1], mails[guess ? 0 : 1])
        const answers = []
        for (const at of [0, 1] as const) {
          await hide(values[at], mails[at])
          const given = []
          for (const [methodAndPath, body] of asked) given.push([methodAndPath, body, await ask(methodAndPath, body)])
          answers.push(given)
        }
        expect(answers[1]).toEqual(answers[0])
      },
    ),
    { numRuns: 3 },
  )
})

describe('what would tell of something hidden is refused with 403', () => {
  const words = (text: string) => (JSON.parse(text) as { error: { message: string } }).error.message

  test('in filters, runs and edits, each with its reason', async () => {
    const runs = 'POST /api/v1/runs'
    const selection = { filter: { topic: canaryDlqTopic } }
    const patch = [{ op: 'replace', path: '/customer/email', value: 'x' }]
    const message = `PATCH ${path(planted.id)}`
    const refused: [string, object | undefined, RegExp][] = [
      [`GET /api/v1/messages?payload=${encoded({ customer: { email: 'a' } })}`, undefined, /^payload: asks for values/],
      [`GET /api/v1/messages/facets?key=a`, undefined, /^key: masks hide keys/],
      [`GET /api/v1/attempts?q=a`, undefined, /^q: masks hide parts of errors/],
      [`GET /api/v1/groups?q=a`, undefined, /^q: /],
      [`GET /api/v1/audit?q=a`, undefined, /^q: /],
      [`GET ${path(planted.id)}/value`, undefined, /^value: masks hide it/],
      [`GET ${path(planted.id)}/key`, undefined, /^key: masks hide it/],
      [`GET ${path(planted.id)}/edits/1`, undefined, /^key: masks hide it/],
      [message, { patch }, /^patch: \/customer\/email overlaps/],
      [message, { value: { json: {} } }, /^value: masks hide it/],
      [message, { key: null }, /^key: masks hide it/],
      [message, { headers: [] }, /^headers: masks hide it/],
      [message, { target_topic: 'elsewhere' }, /^target_topic: messages with masks/],
      [runs, { kind: 'edit', selection, patch }, /^patch: \/customer\/email overlaps/],
      [runs, { kind: 'origin', selection }, /: masks hide it/],
      [runs, { kind: 'origin', selection, adopt: true, dry_run: true }, /: masks hide it/],
      [runs, { kind: 'redirect', selection, target_topic: 'elsewhere' }, /^target_topic: messages with masks/],
      [runs, { kind: 'dead', selection: { filter: { key: 'a' } } }, /^key: masks hide keys/],
    ]
    for (const [methodAndPath, body, why] of refused) {
      const { status, text } = await ask(methodAndPath, body)
      expect([status, words(text)], methodAndPath).toEqual([403, expect.stringMatching(why)])
      expect(words(text)).toContain('payloads: full')
    }
  })

  test('and asking to see behind masks, without payloads: full; and exports, where the token forbids them', async () => {
    expect((await ask('GET /api/v1/messages?unmask=true')).status).toBe(403)
    expect((await ask('GET /api/v1/messages?unmask=true', undefined, 'none')).status).toBe(403)
    expect((await ask('GET /api/v1/messages/export', undefined, 'no-exports')).status).toBe(403)
    expect((await ask('GET /api/v1/messages?unmask=yes', undefined, 'full')).status).toBe(400)
  })

  test('but not to who may see behind masks, and says so', async () => {
    const filter = `payload=${encoded({ order_id: '123', customer: { name: 'maria' } })}&key=nobody`
    expect((await ask(`GET /api/v1/messages?${filter}`, undefined, 'full')).status).toBe(403)
    expect((await ask(`GET /api/v1/messages?${filter}&unmask=true`, undefined, 'full')).status).toBe(200)
  })
})

describe('pseudonyms', () => {
  test('find their messages along the index, and no other key can be tried', async () => {
    const masks = createMasks([{ ...canaryMasks[0]!, key: 'pseudonym' }], 'a secret of thirty-two characters')
    const sealing = createTestApp(service.sql, { auth, masks })
    const get = async (query: string) => {
      const answer = await sealing(`GET /api/v1/messages?${query}`, {
        headers: { authorization: 'Bearer secret-masked' },
      })
      return {
        status: answer.status,
        body: (await answer.json()) as {
          messages: { id: string; key: { value: string } }[]
          pagination: { next_cursor: string }
        },
      }
    }
    const { body } = await get('show=preview')
    const keys = new Set(body.messages.map(({ key }) => key.value))
    expect([...keys]).toEqual([expect.stringMatching(/^sealed:/)])
    const [sealed] = [...keys]
    const found = await get(`key=${encodeURIComponent(sealed!)}&limit=1`)
    expect(found).toMatchObject({ status: 200, body: { messages: [{ id: expect.any(String) }] } })
    // The cursor is bound to the pseudonym: a hash of the key could be tried out.
    expect(
      (await get(`key=${encodeURIComponent(sealed!)}&limit=1&cursor=${found.body.pagination.next_cursor}`)).status,
    ).toBe(200)
    for (const key of ['a', 'sealed:AAAA', `${sealed}A`, 'base64:AAAA'])
      expect((await get(`key=${encodeURIComponent(key)}`)).status, key).toBe(403)
  })

  test('are shown of no key that the sender has chosen', async () => {
    const masks = createMasks([{ ...canaryMasks[0]!, key: 'pseudonym' }], 'a secret of thirty-two characters')
    const sealing = createTestApp(service.sql, { auth, masks })
    const report = async (name: string, original_topic: string, key?: string) => {
      const body = { original_topic, error_message: 'guess', value: { text: '' }, ...(key && { key: { text: key } }) }
      const headers = { authorization: `Bearer secret-${name}`, 'content-type': 'application/json' }
      return (await sealing('POST /api/v1/dlq/messages', { headers, body: JSON.stringify(body) })).status
    }
    expect(await report('masked', canaryTopic, 'guessed')).toBe(403)
    expect(await report('masked', canaryTopic)).toBe(201)
    expect(await report('masked', 'another.topic', 'seen')).toBe(201)
    expect(await report('full', canaryTopic, 'own')).toBe(201)
  })
})

test('a key that is hidden tells nothing of newer messages that have it, where the sender may have chosen it', async () => {
  const insert = (columns: object) =>
    insertMessageRow(database.sql, { original_topic: canaryTopic, record_key: Buffer.from('guessed'), ...columns })
  const place = (offset: number) => ({ original_partition: 7, original_offset: offset, consumer_group: 'g' })
  const reported = await insert(place(1))
  await insert({ ...place(2), dlq_topic: canaryDlqTopic })
  const newerOf = async (name: string, unmask = '') =>
    JSON.parse((await ask(`GET ${path(reported)}${unmask}`, undefined, name)).text).staleness.newer.length
  expect(await newerOf('full', '?unmask=true')).toBe(1)
  expect([await newerOf('masked'), await newerOf('none')]).toEqual([0, 0])
})

test('nor is a message told to be older than one that the sender has reported with a guessed key', async () => {
  const record_key = Buffer.from('another key')
  const insert = (offset: number, dlq_topic: string | null) =>
    insertMessageRow(database.sql, {
      ...{ original_topic: canaryTopic, dlq_topic, record_key, consumer_group: 'g' },
      ...{ original_partition: 7, original_offset: offset },
    })
  const read = await insert(1, canaryDlqTopic)
  const reported = await insert(2, null)
  await insert(3, canaryDlqTopic)
  const newerOf = async (name: string, unmask = '') =>
    JSON.parse((await ask(`GET ${path(read)}${unmask}`, undefined, name)).text).staleness.newer.length
  const waitingOf = async (id: string, name: string, unmask = '') => {
    const { text } = await ask(`POST /api/v1/runs${unmask}`, retryOf(id), name)
    return JSON.parse(text).blast.targets[0].staleness.waiting
  }
  expect([await newerOf('full', '?unmask=true'), await waitingOf(reported, 'full', '?unmask=true')]).toEqual([2, 1])
  for (const name of ['masked', 'none'])
    expect([await newerOf(name), await waitingOf(reported, name)], name).toEqual([1, 0])
  await database.sql`delete from dlq.dlq_messages where original_partition = 7 and original_offset = 3`
  expect([await waitingOf(read, 'full', '?unmask=true'), await waitingOf(read, 'masked')]).toEqual([1, 0])
})

const retryOf = (id: string) => ({ kind: 'retry', selection: { ids: [id] }, force: true, reason: 'x', dry_run: true })

test('the dry run of a retry tells no size of what is hidden, and is recorded where it does', async () => {
  const id = await insertMessageRow(database.sql, {
    ...{ original_topic: canaryTopic, record_value: Buffer.alloc(100), record_key: Buffer.alloc(10) },
  })
  const bytesOf = async (name: string, unmask = '') =>
    JSON.parse((await ask(`POST /api/v1/runs${unmask}`, retryOf(id), name)).text).blast.targets[0].bytes
  expect([await bytesOf('masked'), await bytesOf('none'), await bytesOf('full')]).toEqual([null, null, null])
  await database.sql`delete from dlq.dlq_reads`
  expect(await bytesOf('full', '?unmask=true')).toEqual({ value: 110, relation: 'eq' })
  expect(await database.sql`select action from dlq.dlq_reads`).toEqual([{ action: 'POST /api/v1/runs' }])
})
