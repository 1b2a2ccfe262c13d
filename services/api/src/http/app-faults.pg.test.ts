// The API's answers to requests that it cannot serve, and while the database is away.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { connectAsService, useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { freePort } from 'dlq-testing/process/free-port.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { answerOf, createTestApp, lazyTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const empty = useServiceDatabase(useDatabase({ empty: true }))

const id = '550e8400-e29b-41d4-a716-446655440000'

function errorOf(code: string, message: unknown, details: unknown = []) {
  return { error: { code, message, request_id: expect.stringMatching(/^req_[0-9a-f]{12}$/), details } }
}

const invalid = (message: unknown, details: unknown = expect.any(Array)) => ({
  status: 400,
  body: errorOf('SYS_DLQ_VALIDATION_ERROR', message, details),
})

describe('an invalid query', () => {
  const list = (query: string) => answerOf(request(`GET /api/v1/dlq/orders?${query}`))

  test.each(['0', '-1', '1.5', '1e3', 'two', '', '%20', '99999999999999999999', '1000001', '%00', '１'])(
    'page=%s is answered with the range',
    async (page) => {
      const message = 'page must be a whole number from 1 to 1000000'
      expect(await list(`page=${page}`)).toEqual(invalid(message, [{ field: 'page', message }]))
    },
  )

  test.each(['0', '1000000000', '1001'])('page_size=%s is answered with the range', async (size) => {
    const message = 'page_size must be a whole number from 1 to 1000'
    expect(await list(`page_size=${size}`)).toEqual(invalid(message, [{ field: 'page_size', message }]))
  })

  test('the greatest page and size are served', async () => {
    expect(await list('page=1000000&page_size=1000')).toMatchObject({ status: 200, body: { messages: [] } })
  })

  test('a parameter given twice is refused', async () => {
    expect(await list('page=1&page=2')).toEqual(
      invalid('page must be given once', [{ field: 'page', message: 'page must be given once' }]),
    )
  })

  test('every fault is named, unknown parameters among them', async () => {
    expect(await list('page=0&pagesize=5&page_size=x')).toEqual(
      invalid(expect.stringMatching(/page must be .*; page_size must be .*; unknown query parameter: pagesize/), [
        { field: 'page', message: expect.any(String) },
        { field: 'page_size', message: expect.any(String) },
        { field: 'pagesize', message: 'unknown query parameter: pagesize' },
      ]),
    )
  })

  test.each(['__proto__', 'constructor', 'toString'])('a parameter named %s is unknown', async (name) => {
    expect(await list(`${name}=1`)).toEqual(invalid(`unknown query parameter: ${name}`))
  })

  // An ignored filter would retry or delete messages that the client did not mean.
  test.each([
    `GET /api/v1/dlq/messages/${id}`,
    `DELETE /api/v1/dlq/messages/${id}`,
    `POST /api/v1/dlq/messages/${id}/retry`,
    'POST /api/v1/dlq/orders.events.v1/retry-all',
  ])('%s takes no parameters, and does nothing when it is given one', async (methodAndPath) => {
    await emptyTables(database.sql, 'dlq.dlq_messages')
    await insertMessageRow(database.sql, { id })

    expect(await answerOf(request(`${methodAndPath}?status=DEAD`))).toEqual(invalid('unknown query parameter: status'))
    expect(await readMessageRow(database.sql, id)).toMatchObject({ next_retry_at: null })
  })
})

test('a path and query of more than 8192 bytes together are refused, wherever they lead', async () => {
  for (const path of ['/api/v1/dlq/orders?x=', '/nowhere?x=', `/${'y'.repeat(4000)}?x=`]) {
    const most = path.padEnd(8192, 'z')
    expect((await answerOf(request(`GET ${most}`))).status).toBe(path.includes('dlq') ? 400 : 404)
    expect(await answerOf(request(`GET ${most}z`))).toEqual({
      status: 414,
      body: errorOf('SYS_DLQ_URI_TOO_LONG', 'the path and query are longer than 8192 bytes', []),
    })
  }
})

describe('an invalid path', () => {
  test.each([
    'GET messages/not-a-uuid',
    'DELETE messages/1',
    'POST messages/550e8400e29b41d4a716446655440000/retry',
    `GET messages/${id}0`,
    'GET messages/%00',
    "GET messages/'--",
  ])('%s is answered as an invalid id', async (methodAndPath) => {
    const [method, path] = methodAndPath.split(' ')
    expect(await answerOf(request(`${method} /api/v1/dlq/${path}`))).toEqual(
      invalid(expect.stringMatching(/^invalid message id: /)),
    )
  })

  test.each([
    ['NUL', '%00'],
    ['NUL within a name', 'orders%00.v1'],
    ['a line feed', 'orders%0a'],
    ['300 characters', 'x'.repeat(300)],
    ['300 characters of three bytes', encodeURIComponent('語'.repeat(300))],
    ['bytes that are not UTF-8', '%ff'],
    ['half of a percent code', 'orders%f'],
    ['an overlong UTF-8 form', '%c0%80'],
    ['a surrogate', '%ed%a0%80'],
  ])('a topic name with %s is refused, in lists and retries', async (_, topic) => {
    expect(await answerOf(request(`GET /api/v1/dlq/${topic}`))).toEqual(
      invalid(expect.stringMatching(/topic name|path/)),
    )
    expect(await answerOf(request(`POST /api/v1/dlq/${topic}/retry-all`))).toEqual(
      invalid(expect.stringMatching(/topic name|path/)),
    )
  })

  test.each(['a%2Fb', '%25ff', '語', '%27%3B drop', '..%2F..', 'messages', '🚚', '%7F', 'x'.repeat(255)])(
    'the odd topic name %s is only a name',
    async (topic) => {
      expect(await answerOf(request(`GET /api/v1/dlq/${topic}`))).toMatchObject({ status: 200, body: { messages: [] } })
    },
  )

  test('a name that holds a percent sign is found by its encoded form', async () => {
    const messageId = await insertMessageRow(database.sql, { original_topic: 'rate%ff' })
    expect(await answerOf(request('GET /api/v1/dlq/rate%25ff'))).toMatchObject({
      body: { messages: [{ id: messageId, original_topic: 'rate%ff' }] },
    })
  })

  test.each(['GET /', 'GET /api/v1/dlq', 'GET /api/v2/dlq/orders', 'GET /favicon.ico'])(
    '%s is no endpoint, and says so in the form of every error',
    async (methodAndPath) => {
      expect(await answerOf(request(methodAndPath))).toEqual({
        status: 404,
        body: errorOf('SYS_DLQ_NOT_FOUND', `no such endpoint: ${methodAndPath}`),
      })
    },
  )

  test.each([
    ['POST /api/v1/dlq/orders', 'GET, HEAD'],
    ['PUT /healthz', 'GET, HEAD'],
    [`GET /api/v1/dlq/messages/${id}/retry`, 'POST'],
  ])('%s is refused by its method, and told that the path knows %s', async (methodAndPath, allowed) => {
    const response = await request(methodAndPath)
    expect(response.headers.get('allow')).toBe(allowed)
    const message = `${methodAndPath.split(' ')[0]} is not allowed here; allowed: ${allowed}`
    expect(await answerOf(response)).toEqual({ status: 405, body: errorOf('SYS_DLQ_METHOD_NOT_ALLOWED', message) })
  })
})

describe('the request id', () => {
  test.each(['abc', 'req_abc123def456', '6a1c0d2e-aaaa-4bbb-8ccc-0123456789ab', 'a.b-c_D', 'x'.repeat(128)])(
    '%s is taken over, into errors as well',
    async (requestId) => {
      const response = await request(`GET /api/v1/dlq/messages/${id.replace('5', '6')}`, {
        headers: { 'X-Request-Id': requestId },
      })
      expect(response.headers.get('x-request-id')).toBe(requestId)
      expect(await response.json()).toMatchObject({ error: { request_id: requestId } })
    },
  )

  test.each(['', 'a b', 'x'.repeat(129), '<script>', 'a;b', 'a,b', 'é'])('"%s" is replaced', async (requestId) => {
    const response = await request('GET /nothing', { headers: { 'X-Request-Id': requestId } })
    const body = (await response.json()) as { error: { request_id: string } }
    expect(body.error.request_id).toMatch(/^req_[0-9a-f]{12}$/)
    expect(response.headers.get('x-request-id')).toBe(body.error.request_id)
  })

  test('is on every answer, and differs', async () => {
    const ids = []
    for (const path of ['/healthz', '/metrics', '/api/v1/dlq/orders', '/nothing'])
      ids.push((await request(`GET ${path}`)).headers.get('x-request-id'))
    expect(new Set(ids).size).toBe(4)
  })
})

describe('a body that is too large', () => {
  const tooLarge = { status: 413, body: errorOf('SYS_DLQ_PAYLOAD_TOO_LARGE', 'the body is larger than 1048576 bytes') }
  const tenMegabytes = Buffer.alloc(10_000_000, 'x')

  test('is refused by its announced length', async () => {
    const init = { body: tenMegabytes, headers: { 'content-length': String(tenMegabytes.length) } }
    expect(await answerOf(request(`POST /api/v1/dlq/messages/${id}/dead`, init))).toEqual(tooLarge)
  })

  test('is refused while it arrives, when no length was announced', async () => {
    let sent = 0
    const body = new ReadableStream({
      pull(controller) {
        sent += 100_000
        controller.enqueue(Buffer.alloc(100_000))
        if (sent >= tenMegabytes.length) controller.close()
      },
    })
    expect(
      await answerOf(request(`POST /api/v1/dlq/messages/${id}/dead`, { body, duplex: 'half' } as RequestInit)),
    ).toEqual(tooLarge)
    expect(sent).toBeLessThan(tenMegabytes.length)
  })

  test('is refused before the path is examined', async () => {
    expect(await answerOf(request('POST /nothing', { body: tenMegabytes }))).toEqual(tooLarge)
  })
})

test('on a database whose migrations were not run every request is answered with 503, which says so', async () => {
  const message = 'the database lacks what this version asks for: run its migrations (node db/migrate.ts up)'
  expect(await answerOf(createTestApp(empty.sql)('GET /api/v1/status'))).toEqual({
    status: 503,
    body: errorOf('SYS_DLQ_UNAVAILABLE', message),
  })
})

test('where PostgreSQL opens no further connection, a request is answered with 503, and why', async () => {
  await database.sql`create role app_faults_full login connection limit 0`
  const url = new URL(database.url)
  url.username = 'app_faults_full'
  const sql = connectAsService(String(url))
  try {
    const message =
      'the database opens no further connection: max_connections, or a limit of its own, is reached; try again in a moment'
    expect(await answerOf(createTestApp(sql)('GET /api/v1/status'))).toEqual({
      status: 503,
      body: errorOf('SYS_DLQ_UNAVAILABLE', message),
    })
  } finally {
    await sql.end({ timeout: 1 })
    await database.sql`drop role app_faults_full`
  }
})

test('a change while the database takes none is answered with 503, and lists are answered', async () => {
  const id = await insertMessageRow(database.sql, { dlq_topic: 'orders.dlq.v1', status: 'DEAD' })
  const sql = connectAsService(`${database.url}?default_transaction_read_only=on`)
  try {
    const request = createTestApp(sql)
    const message = 'the database takes no changes: it is a standby, or was made read-only; try again in a moment'
    expect(await answerOf(request(`POST /api/v1/dlq/messages/${id}/retry`))).toEqual({
      status: 503,
      body: errorOf('SYS_DLQ_UNAVAILABLE', message),
    })
    expect((await request(`GET /api/v1/dlq/messages/${id}`)).status).toBe(200)
    expect((await request('GET /readyz')).status).toBe(200)
    expect(await (await request('GET /api/v1/status')).json()).toMatchObject({ takes_changes: false })
  } finally {
    await sql.end({ timeout: 1 })
  }
})

test('a change while the disk of the database is full is answered with 503, and why', async () => {
  const id = await insertMessageRow(database.sql, { dlq_topic: 'orders.dlq.v1', status: 'DEAD' })
  await database.sql.unsafe(`
    create function disk_is_full() returns trigger language plpgsql as
      $$begin raise 'could not extend file' using errcode = 'disk_full'; end$$;
    create trigger full_disk before update on dlq.dlq_messages for each row execute function disk_is_full()`)
  try {
    expect(await answerOf(createTestApp(service.sql)(`POST /api/v1/dlq/messages/${id}/revive`))).toEqual({
      status: 503,
      body: errorOf('SYS_DLQ_UNAVAILABLE', 'the database cannot write: its disk is full; try again in a moment'),
    })
  } finally {
    await database.sql.unsafe('drop function disk_is_full cascade')
  }
})

test.each([
  ['lock_timeout', 'the database is changing the same rows for somebody else; try again in a moment'],
  ['statement_timeout', 'the database took longer than database.statement_timeout allows; try again in a moment'],
])('a change that waits for a lock beyond %s is answered with 503, and why', async (setting, message) => {
  const id = await insertMessageRow(database.sql, { dlq_topic: 'orders.dlq.v1', status: 'DEAD' })
  const sql = connectAsService(`${database.url}?${setting}=50`)
  try {
    await database.sql.begin(async (other) => {
      await other`select from dlq.dlq_messages where id = ${id} for update`
      expect(await answerOf(createTestApp(sql)(`POST /api/v1/dlq/messages/${id}/retry`))).toEqual({
        status: 503,
        body: errorOf('SYS_DLQ_UNAVAILABLE', message),
      })
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
})

describe('while the database is away', () => {
  const away = {
    status: 503,
    body: errorOf('SYS_DLQ_UNAVAILABLE', 'the database does not answer; try again in a moment'),
  }

  async function withoutDatabase<T>(work: (request: ReturnType<typeof createTestApp>) => Promise<T>): Promise<T> {
    const sql = connectAsService(`postgres://nobody@127.0.0.1:${await freePort()}/nothing`)
    try {
      return await work(createTestApp(sql))
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  test('every endpoint answers 503 at once, and says when to try again', async () => {
    await withoutDatabase(async (request) => {
      for (const methodAndPath of [
        'GET /api/v1/dlq/orders',
        `GET /api/v1/dlq/messages/${id}`,
        `DELETE /api/v1/dlq/messages/${id}`,
        `POST /api/v1/dlq/messages/${id}/retry`,
        'POST /api/v1/dlq/orders/retry-all',
      ]) {
        const response = await request(methodAndPath)
        expect(response.headers.get('retry-after'), methodAndPath).toMatch(/^[2-5]$/)
        expect(await answerOf(response), methodAndPath).toEqual(away)
      }
    })
  })

  test('those that are refused together are not told to come back together', async () => {
    await withoutDatabase(async (request) => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => request('GET /api/v1/audit')))
      expect(new Set(answers.map(({ headers }) => headers.get('retry-after'))).size).toBeGreaterThan(1)
    })
  })

  test('the process is healthy and not ready', async () => {
    await withoutDatabase(async (request) => {
      expect(await answerOf(request('GET /healthz'))).toEqual({ status: 200, body: { status: 'ok' } })
      expect(await answerOf(request('GET /readyz'))).toEqual({
        status: 503,
        body: { status: 'unavailable', checks: { database: expect.stringContaining('ECONNREFUSED') } },
      })
    })
  })

  test('faults of the request still have their own answers', async () => {
    await withoutDatabase(async (request) => {
      expect(await answerOf(request('GET /api/v1/dlq/messages/1'))).toMatchObject({ status: 400 })
      expect(await answerOf(request('GET /api/v1/dlq/orders?page=0'))).toMatchObject({ status: 400 })
    })
  })

  test('another fault of the database answers 500 without its details', async () => {
    // Whose rights do not reach schema dlq.
    const sql = connectAsService(`${database.url}?role=pg_monitor`)
    try {
      const answer = await answerOf(createTestApp(sql)(`GET /api/v1/dlq/messages/${id}`))
      expect(answer).toEqual({
        status: 500,
        body: errorOf('SYS_DLQ_INTERNAL_ERROR', expect.not.stringContaining('dlq')),
      })
    } finally {
      await sql.end({ timeout: 1 })
    }
  })
})
