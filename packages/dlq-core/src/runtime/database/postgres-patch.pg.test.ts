// What patches/postgres@3.4.9.patch changes, each fault at the moment at which it shows. The tests own the sockets of
// a pool, so that they can close one between two steps of the driver.
import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { eventually } from 'dlq-testing/eventually.ts'
import { passwordRole } from 'dlq-testing/postgres/postgres.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'

const database = useDatabase()
/** Without its mend, a fault of a closed connection blocks the pool for ever. */
const hangs = { timeout: 20_000 }

/** A pool of our own, with the sockets that it opened so far. `onSocket` sees each before the driver uses it. */
function openPool(options: object = {}, onSocket = (_socket: net.Socket) => {}) {
  const sockets: net.Socket[] = []
  const { hostname, port } = new URL(database.url)
  const socket = () => {
    const opened = net.connect(Number(port), hostname)
    sockets.push(opened)
    onSocket(opened)
    return opened
  }
  const sql = postgres(database.url, { max: 1, backoff: false, onnotice: () => {}, ...{ socket }, ...options })
  onTestFinished(() => sql.end({ timeout: 1 }))
  return { sql, sockets }
}

describe('a connection that is lost', () => {
  test('takes with it the bytes that it had not written', hangs, async () => {
    const { sql, sockets } = openPool()
    await sql`select 1`
    const lost = expect(sql`select 2`).rejects.toThrow('CONNECTION_CLOSED')
    // Promises go on, while the driver writes in the next turn.
    for (let step = 0; step < 10; step += 1) await null
    sockets[0]!.emit('close', false)
    sockets[0]!.destroy()
    await lost
    expect(await sql`select 3 as three`).toEqual([{ three: 3 }])
  })

  test('fails the queries that come between its error and its close', hangs, async () => {
    const { sql, sockets } = openPool()
    await sql`select 1`
    const second = new Promise((resolve, reject) => {
      sockets[0]!.once('error', () => sql`select 2`.then(resolve, reject))
    })
    sockets[0]!.destroy(new Error('cut'))
    await expect(second).rejects.toThrow('CONNECTION_CLOSED')
    expect(await sql`select 3 as three`).toEqual([{ three: 3 }])
  })

  test('while it reads the array types fails its query alone, and the next connection reads them', hangs, async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    let cuts = 0
    const { sql } = openPool({}, (socket) => {
      const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
      Object.assign(socket, {
        write(data: Buffer, ...rest: unknown[]) {
          if (cuts > 0 || !data.includes('typarray')) return write(data, ...rest)
          cuts += 1
          socket.destroy(new Error('cut'))
          return true
        },
      })
    })
    const query = () => sql`select ${sql.array(['a', 'b'])}::text[] as texts`
    await expect(query()).rejects.toThrow('cut')
    expect(cuts).toBe(1)
    expect(await query()).toEqual([{ texts: ['a', 'b'] }])
    expect(unhandled).toEqual([])
  })
})

test('each connection asks for its user and its password together', hangs, async () => {
  const admin = database.sql
  const users = ['one', 'two'].map((name) => `login_${name}_${randomBytes(4).toString('hex')}`)
  await admin.unsafe(`do $$ begin create role ${passwordRole}; exception when duplicate_object then null; end $$`)
  for (const user of users) {
    await admin.unsafe(`create role ${user} login password 'of ${user}' in role ${passwordRole}`)
    onTestFinished(async () => void (await admin.unsafe(`drop role ${user}`)))
  }
  let user = users[0]!
  const { sql } = openPool({ login: () => ({ user, pass: `of ${user}` }) })
  expect(await sql`select current_user as name`).toEqual([{ name: users[0] }])
  user = users[1]!
  await closeAll(sql)
  expect(await sql`select current_user as name`).toEqual([{ name: users[1] }])
})

/** postgres has it without a type. */
const closeAll = (sql: postgres.Sql) => (sql as unknown as { close(): Promise<void> }).close()

/** A pool whose sockets note what is written to them. */
function openNotedPool() {
  const written: Buffer[] = []
  const { sql } = openPool({}, (socket) => {
    const write = socket.write.bind(socket) as (...of: unknown[]) => boolean
    socket.write = ((chunk: Buffer, ...more: unknown[]) => {
      written.push(chunk)
      return write(chunk, ...more)
    }) as typeof socket.write
  })
  return { sql, written }
}

test('the data of a COPY is handed to the socket as it is', async () => {
  const { sql, written } = openNotedPool()
  await sql.begin(async (sql) => {
    await sql`create temporary table copied (line text) on commit drop`
    const stream = await sql`copy copied (line) from stdin`.writable()
    const data = Buffer.from('one\ntwo\n')
    await new Promise((resolve) => stream.write(data, resolve))
    await new Promise((resolve) => stream.end('three\n', () => resolve(null)))
    expect(written).toContain(data)
    expect(await sql`select line from copied order by line`).toEqual([
      { line: 'one' },
      { line: 'three' },
      { line: 'two' },
    ])
  })
})

describe('close()', () => {
  test('leaves the connections that are not open in the pool', hangs, async () => {
    const max = 5
    const { sql } = openPool({ max })
    await sql`select 1`
    await closeAll(sql)
    const answers = await Promise.all(
      Array.from({ length: max }, () => sql<{ pid: number }[]>`select pg_backend_pid() as pid, pg_sleep(0.2)`),
    )
    expect(new Set(answers.map(([row]) => row!.pid)).size).toBe(max)
  })

  test('replaces the connection that listens, which goes on listening', hangs, async () => {
    const { sql, sockets } = openPool()
    const heard: string[] = []
    let listened = 0
    await sql.listen(
      'channel',
      (text) => heard.push(text),
      () => (listened += 1),
    )
    await closeAll(sql)
    await eventually(async () => expect(listened).toBe(2))
    expect(sockets).toHaveLength(2)
    await database.sql.notify('channel', 'news')
    await eventually(async () => expect(heard).toEqual(['news']))
  })
})

test(
  'a connection whose server takes no changes ends with its transaction, and the next one asks anew',
  hangs,
  async () => {
    const { sql, sockets } = openPool()
    await sql`set default_transaction_read_only = on`
    await expect(sql`create table changed ()`).rejects.toMatchObject({ code: '25006' })
    await sql`create temporary table changed ()`
    expect(sockets).toHaveLength(2)
    await sql`set default_transaction_read_only = on`
    const inTransaction = sql.begin(async (sql) => {
      await sql`select 1`
      await sql`create table changed ()`
    })
    await expect(inTransaction).rejects.toMatchObject({ code: '25006' })
    expect(await sql`select 3 as three`).toEqual([{ three: 3 }])
    expect(sockets).toHaveLength(3)
  },
)

const copyFail = 'f'.charCodeAt(0)

test('a COPY that has ended does not fail behind its end, one that is given up does', async () => {
  const { sql, written } = openNotedPool()
  await sql`create temporary table copied (line text)`
  const isFailed = () => written.some(([type]) => type === copyFail)
  const whole = await sql`copy copied (line) from stdin`.writable()
  whole.write('one\n')
  await new Promise((resolve) => whole.end(() => resolve(null)))
  expect(await sql`select line from copied`).toEqual([{ line: 'one' }])
  expect(whole.destroyed).toBe(true)
  expect(isFailed()).toBe(false)

  const broken = await sql`copy copied (line) from stdin`.writable()
  broken.on('error', () => {})
  broken.write('two\n')
  broken.destroy(new Error('given up'))
  await eventually(() => expect(isFailed()).toBe(true))
  expect(await sql`select line from copied`).toEqual([{ line: 'one' }])
})
