// Carries runs on, chunk by chunk: admitted, with a canary, at a rate, paused, cancelled.

import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { describe, expect, test } from 'vitest'
import { useEngine } from './test-engine.ts'
import { whilePaused } from './while-paused.ts'

const engine = useEngine()
const { chunkOf, insert, insertMany, enter, start, move, read, heldBy, publishOnce, failAgain } = engine

describe('admission', () => {
  test('a run waits until fewer than the limit are running', async () => {
    const [first, second] = [await enter(), await enter()]
    expect(await chunkOf(first, 'admit', { maxActive: 1 })).toMatchObject({ isLast: true })
    expect(await chunkOf(second, 'admit', { maxActive: 1 })).toMatchObject({ isLast: false, afterMs: 1000 })
    expect(await read(second)).toMatchObject({ status: 'queued' })
    await move(first, 'running', 'completed')
    expect(await chunkOf(second, 'admit', { maxActive: 1 })).toMatchObject({ isLast: true })
    expect(await read(second)).toMatchObject({ status: 'running' })
    // By a job that runs once more.
    expect(await chunkOf(second, 'admit', { maxActive: 1 })).toMatchObject({ isLast: true })
  })

  test('of runs that ask at the same time no more than the limit are admitted', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => enter()))
    const chunks = await Promise.all(ids.map((id) => chunkOf(id, 'admit', { maxActive: 2 })))
    expect(chunks.filter(({ isLast }) => isLast)).toHaveLength(2)
    const statuses = await Promise.all(ids.map(async (id) => (await read(id)).status))
    expect(statuses.filter((status) => status === 'running')).toHaveLength(2)
  })

  test('the runs of one actor with limited topics leave a place to others, also where it has resumed more', async () => {
    const admitted = async (run: { actor: string; scope: string[] | null }, maxActive = 3) => {
      const id = await enter(run)
      return { id, isLast: (await chunkOf(id, 'admit', { maxActive })).isLast }
    }
    const ann = { actor: 'ann', scope: ['orders*'] }
    const first = await admitted(ann)
    expect([first.isLast, (await admitted(ann)).isLast, (await admitted(ann)).isLast]).toEqual([true, true, false])
    await move(first.id, 'running', 'paused')
    expect((await admitted(ann)).isLast).toBe(true)
    await move(first.id, 'paused', 'running')
    expect((await admitted({ actor: 'bob', scope: ['pay*'] })).isLast).toBe(true)
    expect((await admitted({ actor: 'eve', scope: null })).isLast).toBe(false)
    // Who may see all topics takes all of the places.
    expect((await admitted({ actor: 'eve', scope: null }, 5)).isLast).toBe(true)
    expect((await admitted({ actor: 'eve', scope: null }, 6)).isLast).toBe(true)
  })

  test('the more runs of one actor are queued, the more seldom each looks, and those of others look as often as before', async () => {
    await start(enter())
    const queued = await Promise.all(Array.from({ length: 40 }, () => enter({ actor: 'bob', scope: ['pay*'] })))
    expect(await chunkOf(queued[0]!, 'admit', { maxActive: 1 })).toMatchObject({ isLast: false, afterMs: 4000 })
    expect(await chunkOf(await enter(), 'admit', { maxActive: 1 })).toMatchObject({ isLast: false, afterMs: 1000 })
  })

  test('a paused run leaves its place to another, a cancelling one does not', async () => {
    const [first, second] = [await start(enter()), await enter()]
    await move(first, 'running', 'cancelling')
    expect(await chunkOf(second, 'admit', { maxActive: 1 })).toMatchObject({ isLast: false })
    await move(first, 'cancelling', 'paused')
    expect(await chunkOf(second, 'admit', { maxActive: 1 })).toMatchObject({ isLast: true })
  })
})

describe('a canary', () => {
  const canary = { first: 2, share: 0.5, waitMs: 0, maxRefailure: 0.4 }

  test('sends the first messages, then its share, then the rest', async () => {
    await insertMany(10)
    const id = await start(enter({ matched: 10, canary }))
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
    expect(await heldBy(id)).toHaveLength(2)
    // The run takes no further message before these are settled.
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false, afterMs: 500 })
    expect(await publishOnce()).toBe(2)
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true, response: { taken: 2, failed_again: 0 } })

    await chunkOf(id, 'share')
    expect(await heldBy(id)).toHaveLength(5)
    expect(await publishOnce()).toBe(5)
    expect(await chunkOf(id, 'share')).toMatchObject({ isLast: true, response: { taken: 7 } })

    expect(await chunkOf(id, 'all')).toMatchObject({ isLast: true, response: { taken: 10 } })
    expect(await publishOnce()).toBe(3)
    expect(await chunkOf(id, 'settle')).toMatchObject({ isLast: true, response: { resolved: 10 } })
    expect(await read(id)).toMatchObject({ status: 'completed' })
  })

  test.each([
    ['has spent its budget', { max_retries: 0 }],
    ['is held by its route', { held_by_route: true }],
    ['waits for its original', { origin_state: 18 }],
  ])('does not wait for a message that %s meanwhile', async (_, change) => {
    const ids = await insertMany(4)
    const id = await start(enter({ matched: 4, canary }))
    await chunkOf(id, 'first')
    const { sql } = engine.database
    await sql`update dlq.dlq_messages set ${sql(change)} where id = ${ids[0]!}`
    expect(await publishOnce()).toBe(1)
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
    expect(await read(id)).toMatchObject({ taken: 2, withdrawn: 1 })
  })

  test('waits until no message has failed again for its time', async () => {
    await insertMany(3)
    const id = await start(enter({ matched: 3, canary: { ...canary, waitMs: 60_000 } }))
    await chunkOf(id, 'first')
    await publishOnce()
    for (let looks = 0; looks < 2; looks += 1)
      expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false, afterMs: 500 })
    await engine.database.sql`update dlq.dlq_runs set last_settled_at = now() - interval '2 minutes'`
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
  })

  test('is waited for anew in each step, however long ago the messages of the one before were read', async () => {
    await insertMany(6)
    const id = await start(enter({ matched: 6, canary }))
    await chunkOf(id, 'first')
    await publishOnce()
    const { sql } = engine.database
    await sql`update dlq.dlq_runs set read_at = now() - interval '1 hour'`
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
    await chunkOf(id, 'share')
    expect([...(await sql`select read_at from dlq.dlq_runs`)]).toEqual([{ read_at: null }])
  })

  test('pauses the run once where too many of its messages failed again; resumed, the run continues', async () => {
    const ids = await insertMany(4)
    const id = await start(enter({ matched: 4, canary: { ...canary, maxRefailure: 0.2 } }))
    await chunkOf(id, 'first')
    await publishOnce()
    await failAgain(ids.slice(0, 1))
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: false })
    expect(await read(id)).toMatchObject({
      status: 'paused',
      status_reason: 'canary: 1 of 2 retries failed again',
    })
    await move(id, 'paused', 'running')
    expect(await chunkOf(id, 'first')).toMatchObject({ isLast: true })
    await chunkOf(id, 'share')
    expect(await heldBy(id)).toHaveLength(2)
    // What failed again in the step before counts no more.
    await publishOnce()
    expect(await chunkOf(id, 'share')).toMatchObject({ isLast: true })
  })

  test('without a canary its steps take no messages', async () => {
    await insertMany(2)
    const id = await start(enter({ matched: 2 }))
    for (const step of ['first', 'share']) expect(await chunkOf(id, step)).toEqual({ isLast: true })
    expect(await heldBy(id)).toEqual([])
  })
})

describe('while it runs', () => {
  test('a run with a rate sends no faster, however many messages it holds', async () => {
    await insertMany(6)
    const id = await start(enter({ matched: 6, rate_per_second: 2 }))
    await chunkOf(id, 'all')
    expect(await publishOnce()).toBe(2)
    await engine.database.sql`update dlq.dlq_rate_buckets set refilled_at = now() - interval '1 second'`
    expect(await publishOnce()).toBe(2)
  })

  test('paused, it takes and sends no messages; resumed, it continues', async () => {
    const single = await insert({ next_retry_at: new Date(0) })
    await insertMany(3)
    const id = await start(enter({ matched: 4 }))
    await chunkOf(id, 'all')
    expect(await heldBy(id)).toHaveLength(4)
    await move(id, 'running', 'paused')
    expect(await chunkOf(id, 'settle')).toEqual(whilePaused)
    expect(await publishOnce()).toBe(0)
    expect(await heldBy(id)).toContain(single)
    const late = await start(enter({ matched: 0 }))
    await move(late, 'running', 'paused')
    expect(await chunkOf(late, 'all')).toEqual(whilePaused)
    await move(id, 'paused', 'running')
    expect(await publishOnce()).toBe(4)
    expect(await chunkOf(id, 'settle')).toMatchObject({ isLast: true })
  })

  test('too many re-failures cancel it, where its request says so', async () => {
    const ids = await insertMany(21)
    const id = await start(enter({ matched: 21, on_refailure: 'cancel', max_refailure: 0.1, rate_per_second: 20 }))
    await chunkOf(id, 'all')
    expect(await publishOnce()).toBe(20)
    await failAgain(ids.slice(0, 5))
    expect(await chunkOf(id, 'settle')).toMatchObject({ isLast: false, cancel: '5 of 20 retries failed again' })
    expect(await read(id)).toMatchObject({ status: 'cancelling' })
  })
})

test('too many re-failures pause a run once, where its request says so; resumed, it goes on', async () => {
  const ids = await insertMany(21)
  const id = await start(enter({ matched: 21, on_refailure: 'pause', max_refailure: 0.1 }))
  await chunkOf(id, 'all')
  expect(await publishOnce()).toBe(21)
  await failAgain(ids.slice(0, 5))
  await insertMany(1, { run_id: id, next_retry_at: null })
  await chunkOf(id, 'settle')
  expect(await read(id)).toMatchObject({ status: 'paused', status_reason: '5 of 21 retries failed again' })
  await move(id, 'paused', 'running')
  await chunkOf(id, 'settle')
  expect(await read(id)).toMatchObject({ status: 'running' })
})

test('what a cancelled run has restored from the archive and not sent has the status that it had', async () => {
  const { sql } = engine.database
  const spent = { retry_count: 3, max_retries: 3 }
  const ids = [await insert({ status: 'RESOLVED', ...spent }), await insert({ status: 'DEAD', ...spent })]
  await sql`select dlq.archive_messages(${sql.array(ids)}::uuid[])`
  const id = await start(enter({ matched: 2, selection: { filter: { topic: 'orders', archived: true } } }))
  await chunkOf(id, 'all')
  expect(await heldBy(id)).toEqual(ids.toSorted())
  await move(id, 'running', 'cancelling')
  for (let left = 4; left > 0; left -= 1) await chunkOf(id, 'all', { compensate: true })
  const rows = await sql`select status, max_retries, run_id from dlq.dlq_messages order by status desc`
  expect([...rows]).toEqual(['RESOLVED', 'DEAD'].map((status) => ({ status, max_retries: 3, run_id: null })))
  expect(await sql`select from dlq.dlq_run_undo`).toHaveLength(0)
})

test('what is held as old at the very end of a run is skipped, and not withdrawn', async () => {
  const [message] = await insertMany(1)
  const id = await start(enter({ matched: 1 }))
  await chunkOf(id, 'all')
  const { sql } = engine.database
  await sql`insert into dlq.dlq_run_undo (run_id, message_id, status, max_retries) values (${id}, ${message!}, 'DEAD', 3)`
  await sql`update dlq.dlq_messages set run_id = null where id = ${message!}`
  // It is settled behind the back of the last chunk, which waits for the row of undo.
  let ending: Promise<unknown> | undefined
  await sql.begin(async (settling) => {
    await settling`delete from dlq.dlq_run_undo`
    await settling`insert into dlq.dlq_run_deltas (run_id, outcome, n) values (${id}, 'superseded', 1)`
    ending = chunkOf(id, 'settle')
    await untilWaitingForLock({ sql })
  })
  await ending
  expect(await read(id)).toMatchObject({
    ...{ status: 'completed', taken: 0, withdrawn: 0 },
    skipped: '{"superseded": 1}',
  })
})

test('a run that sends nothing changes messages chunk by chunk, and none while it is paused', async () => {
  await insertMany(2)
  const id = await start(enter({ kind: 'dead', matched: 2 }))
  const { sql } = engine.database
  await sql`update dlq.dlq_runs set chunk_size = 1`
  await move(id, 'running', 'paused')
  expect(await chunkOf(id, 'touch')).toEqual(whilePaused)
  expect(await sql`select from dlq.dlq_messages where status = 'DEAD'`).toHaveLength(0)
  await move(id, 'paused', 'running')
  expect(await chunkOf(id, 'touch')).toMatchObject({ isLast: false, response: { done: 1 } })
  expect(await read(id)).toMatchObject({ status: 'running' })
  while (!(await chunkOf(id, 'touch')).isLast);
  expect(await read(id)).toMatchObject({ status: 'completed', done: 2 })
})

test('a message that is deleted while the run holds it is withdrawn, however the run ends', async () => {
  const ids = await insertMany(4)
  const [completed, cancelled] = [ids.slice(0, 2), ids.slice(2)]
  const first = await start(enter({ matched: 2, selection: { ids: completed } }))
  const second = await start(enter({ matched: 2, selection: { ids: cancelled } }))
  for (const id of [first, second]) await chunkOf(id, 'all')
  await engine.database.sql`delete from dlq.dlq_messages where id in (${completed[0]!}, ${cancelled[0]!})`
  await move(second, 'running', 'cancelling')
  expect(await publishOnce()).toBe(1)
  await chunkOf(first, 'settle')
  for (let chunks = 0; chunks < 2; chunks += 1) await chunkOf(second, 'all', { compensate: true })
  expect(await read(first)).toMatchObject({ status: 'completed', taken: 2, resolved: 1, withdrawn: 1 })
  expect(await read(second)).toMatchObject({ taken: 2, given_back: 1, withdrawn: 1 })
})

test('what an application has come to pull is handed over by a retry, and kept by a redirect', async () => {
  const [first, second] = await insertMany(2)
  const retry = await start(enter({ matched: 1, selection: { ids: [first!] } }))
  const redirect = await start(
    enter({ matched: 1, selection: { ids: [second!] }, kind: 'redirect', target_topic: 'orders-2' }),
  )
  for (const id of [retry, redirect]) await chunkOf(id, 'all')
  const { sql } = engine.database
  await sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  try {
    for (const id of [retry, redirect]) await chunkOf(id, 'settle')
    expect([await heldBy(retry), await heldBy(redirect)]).toEqual([[], [second]])
    expect(await read(retry)).toMatchObject({ status: 'completed', done: 1, taken: 0 })
  } finally {
    await sql`delete from dlq.dlq_policies`
  }
})

describe('of somebody who may see only some topics', () => {
  test('it sends nothing to a topic that is none of theirs, whoever entered it', async () => {
    const [message] = await insertMany(1)
    const foreign = await start(enter({ matched: 1, kind: 'redirect', target_topic: 'payments', scope: ['orders*'] }))
    await expect(chunkOf(foreign, 'all')).rejects.toThrow('may not write to payments')
    expect(await heldBy(foreign)).toEqual([])
    const own = await start(enter({ matched: 1, kind: 'redirect', target_topic: 'orders-2', scope: ['orders*'] }))
    await chunkOf(own, 'all')
    expect(await heldBy(own)).toEqual([message])
  })

  test.each(['archive', 'purge'] as const)('it is no %s', async (kind) => {
    const id = await start(enter({ kind, scope: ['orders*'], selection: { ids: await insertMany(1) } }))
    await expect(chunkOf(id, 'touch')).rejects.toThrow('needs a token for all topics')
  })
})

describe('cancelled', () => {
  test('it gives back the messages that were not sent, as they were, and counts them', async () => {
    const due = new Date('2030-01-01')
    const ids = await insertMany(5, { next_retry_at: due, retry_count: 1 })
    const id = await start(enter({ matched: 5, rate_per_second: 2 }))
    await chunkOf(id, 'all')
    expect(await publishOnce()).toBe(2)
    await move(id, 'running', 'cancelling')
    expect(await publishOnce()).toBe(0)
    expect(await chunkOf(id, 'all', { compensate: true })).toEqual({ isLast: false, response: { given_back: 3 } })
    expect(await chunkOf(id, 'all', { compensate: true })).toEqual({ isLast: true, response: { given_back: 3 } })
    await chunkOf(id, 'admit', { compensate: true })

    expect(await read(id)).toMatchObject({ status: 'cancelled', taken: 5, resolved: 2, given_back: 3, withdrawn: 0 })
    const rows = await engine.database.sql`
      select id, run_id, retry_count, next_retry_at from dlq.dlq_messages where status = 'PENDING'`
    expect(rows).toHaveLength(3)
    for (const row of rows) expect(row).toMatchObject({ run_id: null, retry_count: 1, next_retry_at: due })
    expect(rows.every((row) => ids.includes(row.id))).toBe(true)
  })

  test('it waits for a message that is being sent, and counts its outcome', async () => {
    const [under] = await insertMany(2)
    const id = await start(enter({ matched: 2 }))
    await chunkOf(id, 'all')
    await engine.database.sql`
      update dlq.dlq_messages set status = 'RETRYING', retry_count = 1, lease_slot = 99, lease_batch = 1, lease_token = gen_random_uuid()
      where id = ${under!}`
    await move(id, 'running', 'cancelling')
    await chunkOf(id, 'all', { compensate: true })
    expect(await chunkOf(id, 'all', { compensate: true })).toEqual({ isLast: false, afterMs: 200 })
    await engine.database.sql`
      update dlq.dlq_messages set status = 'PENDING', retry_count = 0, lease_slot = null, lease_batch = null, lease_token = null
      where id = ${under!}`
    expect(await chunkOf(id, 'all', { compensate: true })).toMatchObject({ response: { given_back: 2 } })
    expect(await heldBy(id)).toEqual([])
  })

  test.each([
    ['a step', () => start(enter())],
    ['its admission', () => enter()],
  ])('where %s failed, the run has failed', async (_, begin) => {
    const id = await begin()
    await chunkOf(id, 'all', { compensate: true })
    await chunkOf(id, 'admit', { compensate: true })
    expect(await read(id)).toMatchObject({ status: 'failed', status_reason: 'a step failed; the saga has the details' })
  })
})
