// Handling dead letters by SQL: many instances, killed ones among them, and scheduled passes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DeadLetter } from './dead-letter-functions.ts'
import { type HandlerContext, type ProcessOptions, processDeadLetters, processPass } from './process-dead-letters.ts'

const database = useDatabase()
const topic = 'order.created'
const soak = process.env.DLQ_SOAK === '1'

beforeAll(async () => {
  await database.sql`insert into dlq.dlq_policies (pattern, delivery, backoff, initial_delay) values ('*', 'pull', 'fixed', '0')`
  await database.sql`create table handlings (message_id uuid, attempt int, pid int, at timestamptz not null default clock_timestamp())`
  await database.sql`create table effects (message_id uuid, attempt int, pid int)`
})
beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_locks', 'handlings', 'effects')
})

const deadLetter = async (payload: object = {}) => {
  const [row] = await database.sql<[{ id: string }]>`
    select dlq.dead_letter(${topic}, ${database.sql.json(payload as never)}, 'failed', p_retry_after => '0') as id`
  return row.id
}
const statusCounts = async () =>
  Object.fromEntries(
    await database.sql`select status, count(*)::int from dlq.dlq_messages group by status`.values(),
  ) as Record<string, number>
const options = (rest: Partial<ProcessOptions>): ProcessOptions => ({
  ...{ sql: database.sql, topic, handler: () => {}, pollMs: 10 },
  ...rest,
})

describe('four processes, some of which are killed', () => {
  const total = soak ? 100_000 : 500
  const kills = soak ? 20 : 2
  const leaseMs = 6000
  const running = new Set<ChildProcess>()
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL')
  })

  function start(): ChildProcess {
    const script = fileURLToPath(new URL('test-processor.ts', import.meta.url))
    const env = { ...process.env, DATABASE_URL: database.url, TOPIC: topic, LEASE_MS: String(leaseMs) }
    const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }

  test('resolve each message once, with its effect, and handle none while another holds it', {
    timeout: soak ? 3_600_000 : 180_000,
  }, async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, payload, max_retries, next_retry_at)
      select ${topic}, 'failed', jsonb_build_object('n', n), 1000, now() from generate_series(1, ${total}) n`
    const resolved = async () => (await statusCounts()).RESOLVED ?? 0
    const killedAt = new Map<number, Date>()
    for (let n = 0; n < 4; n += 1) start()
    for (let kill = 1; kill <= kills; kill += 1) {
      await expect
        .poll(resolved, { timeout: 600_000, interval: soak ? 500 : 20 })
        .toBeGreaterThan((total * kill) / (kills + 2))
      const victim = [...running][kill % 4]!
      victim.kill('SIGKILL')
      await once(victim, 'exit')
      // The server may still be ending what the dead process had sent.
      const [row] = await database.sql<[{ at: Date }]>`select clock_timestamp() as at`
      killedAt.set(victim.pid!, row.at)
      start()
    }
    await expect.poll(resolved, { timeout: 600_000, interval: 50 }).toBe(total)
    for (const child of [...running]) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }

    expect(await statusCounts()).toEqual({ RESOLVED: total })
    const [effects] = await database.sql`select count(*)::int, count(distinct message_id)::int as messages from effects`
    expect(effects).toEqual({ count: total, messages: total })
    const [attempts] = await database.sql`
      select count(*)::int as resolved from dlq.dlq_attempts a join effects e using (message_id)
      where a.outcome = 'resolved' and a.number = e.attempt`
    expect(attempts!.resolved).toBe(total)
    // If a message was handled twice, the first process had died before the second one handled it.
    const again = await database.sql<{ pid: number; next_at: Date }[]>`
      select pid, next_at from (
        select pid, lead(at) over (partition by message_id order by at) as next_at from handlings) handled
      where next_at is not null`
    for (const { pid, next_at } of again)
      expect(next_at.getTime()).toBeGreaterThan(killedAt.get(pid)?.getTime() ?? Infinity)
    expect((await database.sql`select from dlq.dlq_attempts where outcome = 'failed'`).length).toBeGreaterThanOrEqual(1)
  })
})

describe('handling', () => {
  test('gives the handler the message, and resolves it', async () => {
    const id = await deadLetter({ order: 17 })
    const seen: DeadLetter[] = []
    const counts = await processPass(options({ handler: (message) => void seen.push(message) }))

    expect(counts).toEqual({ claimed: 1, resolved: 1, failed: 0, dead: 0, lost: 0 })
    expect(seen).toMatchObject([
      { id, topic, payload: { order: 17 }, errorMessage: 'failed', attempt: 1, maxRetries: 3 },
    ])
    expect(await statusCounts()).toEqual({ RESOLVED: 1 })
  })

  test('of a message that always fails ends when the budget is spent, and each error is kept', async () => {
    const id = await deadLetter()
    const handler = ({ attempt }: DeadLetter) => {
      throw new TypeError(`attempt ${attempt} failed`)
    }
    const pass = () => processPass(options({ handler, maxRetries: 2 }))

    expect([await pass(), await pass(), await pass()]).toMatchObject([{ failed: 1 }, { dead: 1 }, { claimed: 0 }])
    const [row] =
      await database.sql`select status, error_message, error_class, error_stacktrace, failure_count, max_retries from dlq.dlq_messages`
    expect(row).toMatchObject({
      status: 'DEAD',
      error_message: 'attempt 2 failed',
      error_class: 'TypeError',
      failure_count: 3,
      max_retries: 2,
    })
    expect(row!.error_stacktrace).toContain('process-dead-letters.pg.test.ts')
    const attempts =
      await database.sql`select number, outcome, error, actor from dlq.dlq_attempts where message_id = ${id} order by number`
    expect([...attempts]).toEqual([
      { number: 1, outcome: 'failed', error: 'attempt 1 failed', actor: 'postgres' },
      { number: 2, outcome: 'failed', error: 'attempt 2 failed', actor: 'postgres' },
    ])
  })

  test('in a transaction takes the effects back with a failure', async () => {
    const good = await deadLetter({ good: true })
    await deadLetter({ good: false })
    const counts = await processPass(
      options({
        inTransaction: true,
        async handler({ id, payload }, { sql }) {
          await sql`insert into effects (message_id) values (${id})`
          if (!(payload as { good: boolean }).good) throw new Error('bad')
        },
      }),
    )
    expect(counts).toMatchObject({ resolved: 1, failed: 1 })
    expect([...(await database.sql`select message_id from effects`)]).toEqual([{ message_id: good }])
  })

  test('of a message whose lease was lost settles nothing, and says so', async () => {
    await deadLetter()
    const errors: string[] = []
    const counts = await processPass(
      options({
        onError: ({ message }) => errors.push(message),
        // Somebody else claims it, after its lease was over.
        async handler() {
          await database.sql`update dlq.dlq_messages set lease_until = now() - interval '1 s'`
          await database.sql`select dlq.expire_leases(null, 10)`
          await database.sql`select from dlq.claim_messages(${topic})`
        },
      }),
    )
    expect(counts).toMatchObject({ claimed: 1, lost: 1 })
    expect(errors).toEqual([expect.stringContaining('was lost')])
    expect(await statusCounts()).toEqual({ RETRYING: 1 })
  })

  test('of a message whose lease was lost is told so, and that of the messages after it is not', async () => {
    for (let n = 0; n < 3; n += 1) await deadLetter()
    const aborted: boolean[] = []
    const counts = await processPass(
      options({
        leaseMs: 3000,
        onError() {},
        async handler({ id }, { signal }) {
          if (aborted.length === 0) {
            await database.sql`update dlq.dlq_messages set lease_token = gen_random_uuid() where id = ${id}`
            await expect.poll(() => signal.aborted, { timeout: 10_000 }).toBe(true)
          }
          aborted.push(signal.aborted)
        },
      }),
    )
    expect(aborted).toEqual([true, false, false])
    expect(counts).toMatchObject({ resolved: 2, lost: 1 })
  })

  test('that takes longer than the lease keeps it', async () => {
    await deadLetter()
    let ended = false
    const handler = async () => {
      const [first] = await database.sql`select lease_until from dlq.dlq_messages`
      for (let over = false; !over; ) {
        expect(await database.sql`select from dlq.claim_messages(${topic})`).toHaveLength(0)
        const [row] = await database.sql`select clock_timestamp() > ${first!.lease_until} as over, pg_sleep(0.05)`
        over = row!.over
      }
      expect(await database.sql`select from dlq.claim_messages(${topic})`).toHaveLength(0)
      ended = true
    }
    expect(await processPass(options({ leaseMs: 5000, handler }))).toMatchObject({ resolved: 1 })
    expect(ended).toBe(true)
  })

  test('stops after the message that is being handled, and gives the others back uncounted', async () => {
    for (let n = 0; n < 5; n += 1) await deadLetter()
    const stop = new AbortController()
    const counts = await processPass(options({ signal: stop.signal, handler: () => stop.abort() }))
    expect(counts).toMatchObject({ claimed: 5, resolved: 1 })
    const rows = await database.sql`select status, retry_count from dlq.dlq_messages where status <> 'RESOLVED'`
    expect([...rows]).toEqual(Array.from({ length: 4 }, () => ({ status: 'PENDING', retry_count: 0 })))
  })

  test('that ends because it must stop gives its own message back too', async () => {
    const id = await deadLetter()
    const stop = new AbortController()
    const handler = async (_: DeadLetter, { signal }: HandlerContext) => {
      stop.abort()
      await sleep(60_000, undefined, { signal })
    }
    const counts = await processPass(options({ signal: stop.signal, handler, maxRetries: 1 }))
    expect(counts).toEqual({ claimed: 1, resolved: 0, failed: 0, dead: 0, lost: 0 })
    const rows = await database.sql`select id, status, retry_count from dlq.dlq_messages`
    expect([...rows]).toEqual([{ id, status: 'PENDING', retry_count: 0 }])
  })

  test('that cannot be settled gives the messages back that were not begun, once the database takes that', async () => {
    for (let n = 0; n < 5; n += 1) await deadLetter()
    const { sql } = database
    const away = async (is: boolean) => {
      const [from, to] = is ? ['dlq', 'public'] : ['public', 'dlq']
      for (const routine of ['resolve_messages(uuid[], uuid)', 'release_messages(uuid[], uuid)'])
        await sql.unsafe(`alter function ${from}.${routine} set schema ${to}`)
      await sql.unsafe(`alter function ${from}.fail_message(uuid, uuid, text, text, text, interval) set schema ${to}`)
    }
    const errors: Error[] = []
    // The first error is that of the given-back messages.
    const onError = (error: Error) => void (errors.push(error) === 1 && back())
    const { promise, resolve: back } = Promise.withResolvers<void>()
    const isBack = promise.then(() => away(false))
    const pass = processPass(options({ onError, handler: () => away(true) }))
    await expect(pass).rejects.toThrow('fail_message')
    expect(errors).toHaveLength(1)
    await isBack
    const rows = await sql`select status, retry_count from dlq.dlq_messages order by status, retry_count`
    expect([...rows]).toEqual([
      ...Array.from({ length: 4 }, () => ({ status: 'PENDING', retry_count: 0 })),
      { status: 'RETRYING', retry_count: 1 },
    ])
  })

  test('whose pass was lost gives the messages back that were not begun', async () => {
    for (let n = 0; n < 3; n += 1) await deadLetter()
    const handler = async (_: DeadLetter, { signal }: HandlerContext) => {
      await database.sql`delete from dlq.dlq_locks`
      await expect.poll(() => signal.aborted, { timeout: 10_000 }).toBe(true)
    }
    const pass = options({ leaseMs: 3000, every: 3_600_000, batchSize: 3, onError() {}, handler })
    expect(await processPass(pass)).toMatchObject({ claimed: 3, resolved: 1, lost: 2 })
    const rows = await database.sql`select status, retry_count from dlq.dlq_messages where status <> 'RESOLVED'`
    expect([...rows]).toEqual(Array.from({ length: 2 }, () => ({ status: 'PENDING', retry_count: 0 })))
  })

  test('goes on by itself as messages become due, until it is stopped', async () => {
    const processing = processDeadLetters(options({ batchSize: 2 }))
    try {
      for (let n = 0; n < 5; n += 1) await deadLetter()
      await expect.poll(statusCounts, { timeout: 30_000 }).toEqual({ RESOLVED: 5 })
      await deadLetter()
      await expect.poll(statusCounts, { timeout: 30_000 }).toEqual({ RESOLVED: 6 })
    } finally {
      await processing.stop()
    }
    await deadLetter()
    expect(await statusCounts()).toEqual({ RESOLVED: 6, PENDING: 1 })
  })
})

describe('a scheduled pass', () => {
  const sixHours = 6 * 3_600_000

  test('that comes every 30 days waits for longer than a timer of Node can', async () => {
    for (let n = 0; n < 3; n += 1) await deadLetter()
    let handled = 0
    const handler = () => {
      handled += 1
    }
    const processing = processDeadLetters(
      options({ handler, every: 30 * 24 * 3_600_000, exclusive: false, batchSize: 1 }),
    )
    await expect.poll(() => handled).toBe(1)
    await sleep(200)
    await processing.stop()
    expect(handled).toBe(1)
  })

  test('is made by one of many instances, handles at most its limit, and then waits for its next time', async () => {
    for (let n = 0; n < 60; n += 1) await deadLetter()
    let atOnce = 0
    let most = 0
    const handler = async () => {
      atOnce += 1
      most = Math.max(most, atOnce)
      await database.sql`select pg_sleep(0.001)`
      atOnce -= 1
    }
    const passes = await Promise.all([1, 2, 3, 4].map(() => processPass(options({ handler, every: sixHours }))))

    expect(passes.map(({ claimed }) => claimed).toSorted()).toEqual([0, 0, 0, 50])
    expect(most).toBe(1)
    expect((await processPass(options({ every: sixHours }))).claimed).toBe(0)
    await database.sql`update dlq.dlq_locks set locked_until = locked_until - interval '5 hours 25 minutes'`
    expect((await processPass(options({ every: sixHours }))).claimed).toBe(10)
  })

  test('never overlaps with another, nor begins before its time, however many instances have a schedule', async () => {
    const every = 400
    for (let n = 0; n < 20; n += 1) await deadLetter()
    let atOnce = 0
    let most = 0
    const begun: number[] = []
    const handler = async () => {
      atOnce += 1
      most = Math.max(most, atOnce)
      const [lock] = await database.sql`select extract(epoch from locked_at)::float8 * 1000 as at from dlq.dlq_locks`
      begun.push(lock!.at)
      await database.sql`select pg_sleep(0.05)`
      atOnce -= 1
    }
    const instances = [1, 2, 3, 4].map(() => processDeadLetters(options({ handler, every, batchSize: 1 })))
    try {
      await expect.poll(() => begun.length, { timeout: 60_000 }).toBeGreaterThan(5)
    } finally {
      await Promise.all(instances.map((instance) => instance.stop()))
    }
    expect(most).toBe(1)
    const gaps = begun.slice(1).map((at, n) => at - begun[n]!)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(every * 0.9)
  })

  test('leaves failed messages due for the next pass, whatever the policy says', async () => {
    await database.sql`update dlq.dlq_policies set initial_delay = '1 day'`
    try {
      await deadLetter()
      const handler = () => {
        throw new Error('not yet')
      }
      const pass = () => processPass(options({ handler, every: sixHours, exclusive: false, maxRetries: 240 }))
      for (let run = 1; run <= 5; run += 1) expect(await pass()).toMatchObject({ failed: 1 })
      const [row] = await database.sql`select status, retry_count, max_retries from dlq.dlq_messages`
      expect(row).toEqual({ status: 'PENDING', retry_count: 5, max_retries: 240 })
    } finally {
      await database.sql`update dlq.dlq_policies set initial_delay = '0'`
    }
  })

  test('of an instance that died holds up the others no longer than its lease', async () => {
    await deadLetter()
    await database.sql`select dlq.begin_pass(${topic}, 'dead', '1 hour')`
    expect((await processPass(options({ every: sixHours }))).claimed).toBe(0)
    await database.sql`update dlq.dlq_locks set locked_until = now() - interval '1 s'`
    expect((await processPass(options({ every: sixHours }))).claimed).toBe(1)
  })
})
