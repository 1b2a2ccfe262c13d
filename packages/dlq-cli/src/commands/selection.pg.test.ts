// What is agreed to is what is done: numbers that are typed, expected, or answered by --yes.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { useInProcess } from '../testing/test-in-process.ts'

const database = useDatabase()
const cli = useInProcess(useServiceDatabase(database))

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_runs', 'dlq.dlq_messages', 'dlq.dlq_groups'))

const insert = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, { original_topic: 'orders', ...columns })
const insertMany = (count: number) => Promise.all(Array.from({ length: count }, () => insert()))
const run = (line: string, person = {}) => cli.run(line.split(' '), person)
/** What the runs took, or would. */
const started = async () =>
  (await database.sql<{ matched: bigint }[]>`select matched from dlq.dlq_runs`).map(({ matched }) => Number(matched))

test('the number that is typed binds the run: where more have arrived meanwhile, nothing is started', async () => {
  await insertMany(18)
  const asked: string[] = []
  const answerAfter = (arriving: number) => async (question: string) => {
    asked.push(question)
    await insertMany(arriving)
    return '18'
  }
  const drop = 'drop --topic orders --reason pty --context prod'
  expect(await run(drop, { ask: answerAfter(30) })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('48 messages match, not 18'),
  })
  expect(asked).toEqual(['Mark DEAD 18 messages in prod? Type the number 18.'])
  expect(await started()).toEqual([])
})

test('of what somebody was asked, a tenth more or fewer may match by then, or as many as they say', async () => {
  await insertMany(18)
  const confirm = async () => insertMany(1).then(() => true)
  expect(await run('replay --topic orders --expect-tolerance 0', { confirm })).toMatchObject({ code: 1 })
  expect(await run('replay --topic orders', { confirm })).toMatchObject({ code: 0 })
  expect(await started()).toEqual([20])
})

test('a status alone means messages of all topics, which is said by --all', async () => {
  await insert({ status: 'DEAD' })
  await insert()
  expect(await run('drop --status PENDING --reason OPS-1 --yes')).toMatchObject({
    ...{ code: 64, stderr: 'dlq: this means messages of all topics: add --all\n' },
  })
  expect(await run('drop --status PENDING --all --reason OPS-1 --yes')).toMatchObject({ code: 0 })
  expect(await started()).toEqual([1])
})

test('a run that is waited for is named before, so that it is found again however the waiting ends', async () => {
  await insertMany(1)
  expect(await run('replay --topic orders --yes --wait --timeout 0s')).toMatchObject({
    code: 75,
    stderr: expect.stringMatching(/^run (\S+) has started; Ctrl-C leaves it going: dlq runs watch \1$/m),
  })
})

test('--expect is the number of messages that match, also where some of them are left alone', async () => {
  await insertMany(26)
  await insert({ held_by_route: true })
  expect((await run('replay --topic orders --expect 26 --curl')).stdout).toContain('"expect_count":26')
  expect((await run('replay --topic orders --dry-run')).stdout).toMatch(/^26 of 27 messages to orders 26\n/)
  expect((await run('drop --topic orders --dry-run')).stdout).toMatch(/^27 messages of orders 27\n/)
  expect(await run('replay --topic orders --expect 26')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('27 messages match, not 26'),
  })
  expect(await started()).toEqual([])
  expect(await run('replay --topic orders --context prod')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('--expect 27'),
  })
  expect(await run('replay --topic orders --expect 27')).toMatchObject({ code: 0 })
  expect(await run('replay --topic orders --expect 30 --expect-tolerance 10%')).toMatchObject({ code: 0 })
  expect(await started()).toEqual([27, 27])
})

test('--yes does not agree to the first of many', async () => {
  // A survey ends after 20,000 messages, and finds what it finds among those.
  await database.sql`insert into dlq.dlq_messages (original_topic, error_message, status, next_retry_at)
    select 'orders', 'failed', case when n % 400 = 0 then 'PENDING' else 'DEAD' end, null from generate_series(1, 60000) n`
  const { code, stderr } = await run('replay --topic orders --yes')
  expect(await run('replay --topic orders --status DEAD --yes')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('nothing to do'),
  })
  expect([code, stderr]).toEqual([64, expect.stringMatching(/^150 messages\n {2}of the first 20,000: .*to orders/)])
  expect(await started()).toEqual([])
})

test('a message that arrives meanwhile does not fail --yes, and a flood of them does', async () => {
  await insertMany(2)
  const yes = 'replay --topic orders --yes'
  expect(await run(yes, { meanwhile: () => insertMany(1) })).toMatchObject({ code: 0 })
  expect(await run(yes, { meanwhile: () => insertMany(500) })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('503 messages match, not 3'),
  })
  expect(await started()).toEqual([3])
})

test('where nothing is sent though messages were named or expected, the exit code is 1, and --json prints the survey', async () => {
  const dead = await insert({ status: 'DEAD' })
  expect(await run('replay --topic nope --expect 3000 --wait')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('0 messages match, not 3,000; nothing was started'),
  })
  expect(await run('replay --topic nope --expect 0')).toMatchObject({ code: 0 })
  expect(await run('replay --topic nope --yes')).toMatchObject({ code: 0, stdout: '' })
  const named = await cli.run(['replay', dead, '--wait', '--json'])
  expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('send with force') })
  expect(JSON.parse(named.stdout)).toMatchObject({ dry_run: true, eligible: 0, ineligible: { dead: 1 } })
})

test('error groups are named by their titles', async () => {
  const { sql } = database
  const [known, gone] = ['00000000-0000-8000-8000-000000000001', '00000000-0000-8000-8000-000000000002']
  await sql`insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
            values (${known}, 1, 'Late', 'm', 'Late: the bank is closed', now(), now())`
  for (const group_id of [known, known, gone, null]) await insert({ group_id })
  const { stdout } = await run('replay --topic orders --dry-run')
  expect(stdout).toContain(`that failed in “Late: the bank is closed” 2, `)
  expect(stdout).toContain(`${gone} 1`)
  expect(stdout).toContain('no error group 1')
})
