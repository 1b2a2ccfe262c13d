// Every example of the help, run as a person types it: the built command, a real API and a retrier that sends.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { examplesOf } from './define-command.ts'
import { createProgram, everyCommand } from './program.ts'
import { buildTestBundle, type Ended, runLine, type TestBundle } from './testing/test-bundle.ts'

const token = 'a-token-of-the-cli'
const folder = mkdtempSync(join(tmpdir(), 'dlq-cli-config-'))
const config = join(folder, 'config.yaml')
const sha256 = createHash('sha256').update(token).digest('hex')
writeFileSync(config, `auth: { tokens: [{ name: maria, sha256: ${sha256}, role: sys_admin }] }`)

const fleet = useFleet('cli', { env: { DLQ_CONFIG: config, DLQ_RETRY_AUTO_RETRY: 'false' } })
const group = '00000000-0000-8000-8000-000000000001'
let bundle: TestBundle
let ids: string[]

beforeAll(async () => {
  bundle = await buildTestBundle()
  writeFileSync(join(bundle.folder, '.dlq-token'), token)
  const started = await Promise.all([fleet.services.start('api'), fleet.services.start('retrier')])
  await Promise.all(started.map((service) => service.ready()))
  await fleet.topics.admin.createTopics({ topics: [{ topic: `${fleet.original}.v2` }] })
})
afterAll(async () => {
  await fleet.services.stop()
  await fleet.topics.admin.deleteTopics({ topics: [`${fleet.original}.v2`] })
  bundle?.[Symbol.dispose]()
  rmSync(folder, { recursive: true })
})

beforeEach(async () => {
  const { sql } = fleet.database
  await emptyTables(sql, 'dlq.dlq_group_topics', 'dlq.dlq_messages', 'dlq.dlq_groups', 'dlq.dlq_topic_pauses')
  await sql`insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
            values (${group}, 1, 'InvalidAmount', 'm', 'InvalidAmount: amount is negative', now(), now())`
  await sql`insert into dlq.dlq_group_topics (dlq_topic, group_id) values (${fleet.dlq}, ${group})`
  ids = [
    await insertLetter({ error_class: 'InvalidAmount', error_message: 'amount is negative' }),
    await insertLetter({ error_class: 'TimeoutError', error_message: 'Timeout of the card network' }),
  ]
})

/** PENDING, until somebody asks. */
function insertLetter(error: object = {}): Promise<string> {
  return insertMessageRow(fleet.database.sql, {
    ...{ original_topic: fleet.original, original_topic_source: 'header', dlq_topic: fleet.dlq, group_id: group },
    ...{ record_value: Buffer.from('{"amount":-5}'), record_headers: [], consumer_group: 'billing' },
    ...error,
  })
}

function run(line: string, more: Record<string, string> = {}): Promise<Ended> {
  const env = { DLQ_API: fleet.services.get('api').url, DLQ_TOKEN: token, ID: ids[0]!, GROUP: group }
  return runLine(line, bundle, { ...env, API: env.DLQ_API, TOKEN: token, ...more })
}

/** A run that waits an hour behind its canary, or one that has ended. */
async function startRun({ waiting }: { waiting: boolean }): Promise<string> {
  const canary = waiting ? { first: 1, wait: '1h' } : null
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const { text } = await fleet.services.request('/api/v1/runs', {
    ...{ method: 'POST', headers },
    body: JSON.stringify({ kind: 'retry', selection: { filter: { topic: fleet.original } }, canary }),
  })
  const { id } = JSON.parse(text) as { id: string }
  if (waiting) return id
  return eventually(async () => {
    const answer = await fleet.services.request(`/api/v1/runs/${id}`, { headers })
    expect(answer.json()).toMatchObject({ status: 'completed' })
    return id
  })
}

describe('the examples of the help', () => {
  const commands = everyCommand(createProgram()).slice(1)
  const examples = commands.flatMap((command) => examplesOf.get(command) ?? [])

  test('are there for every command', () => {
    expect(commands.filter((command) => !examplesOf.get(command)?.length).map((command) => command.name())).toEqual([])
  })

  const changing = examples.filter((example) =>
    /\b(login|context|edit|replay|drop|runs|pause|resume|groups [a-z]+)\b/.test(example),
  )
  const reading = examples.filter((example) => !changing.includes(example))

  // At once, because most of their time is the start of a process.
  test('that only read', async () => {
    const ended = await Promise.all(reading.map((example) => runExample(example)))
    expect(ended.filter((fault) => fault !== null)).toEqual([])
  })

  test.each(changing)('%s', async (example) => expect(await runExample(example)).toBeNull())
})

/** Null, or what was wrong. */
async function runExample(example: string): Promise<object | null> {
  const line = example.replaceAll(/\borders\b/g, fleet.original)
  const changesRun = /^dlq runs (pause|resume|cancel)/.test(example)
  const RUN = example.includes('$RUN') ? await startRun({ waiting: changesRun }) : ''
  if (example.includes('groups resume'))
    await fleet.database.sql`insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at)
                             values (${fleet.original}, ${group}, 'they failed again', now() + interval '1 hour')`
  if (example.includes('runs resume')) await run(`dlq runs pause ${RUN}`)
  // The reader takes one line and goes; the command then ends.
  const ending = run(/dlq tail|--watch/.test(example) ? `${line} | head -n 1` : line, { RUN })
  if (example.startsWith('dlq tail')) await keepInserting(ending)
  const { code, stdout, stderr } = await ending
  if (changesRun) await run(`dlq runs cancel ${RUN}`)
  const silent = stdout === '' && !example.includes('>')
  return code === 0 && !silent && !/^\s+at /m.test(stderr) ? null : { example, code, stdout, stderr }
}

/** So that there is something to tail. */
async function keepInserting(until: Promise<unknown>): Promise<void> {
  let ended = false
  until.finally(() => {
    ended = true
  })
  while (!ended) {
    await insertLetter()
    await sleep(200)
  }
}

test('a run that was followed to its end has sent what it said', async () => {
  const { code, stdout } = await run(`dlq replay --topic ${fleet.original} --expect 2 --wait`)
  expect(code).toBe(0)
  expect(stdout).toContain('2 sent, 0 failed, 0 failed again')
  for (const id of ids) expect(await readMessageRow(fleet.database.sql, id)).toMatchObject({ status: 'RESOLVED' })
})

test('a run that leaves alone a message that was named has not sent all of them', async () => {
  const DEAD = await insertLetter({ status: 'DEAD' })
  const { code, stdout } = await run('dlq replay "$ID" "$DEAD" --wait', { DEAD })
  expect([code, stdout]).toEqual([1, expect.stringContaining('1 sent, 0 failed, 0 failed again')])
  expect((await run(`dlq replay --topic ${fleet.original} --expect 1 --wait`)).code).toBe(0)
})

test('a run says how many messages it did its work to, whatever that is', async () => {
  const { code, stdout } = await run(`dlq drop --topic ${fleet.original} --expect 2 --reason OPS-1 --wait`)
  expect([code, stdout]).toEqual([0, expect.stringContaining('2 done, 0 failed, 0 failed again')])
  expect((await run('dlq runs --limit 1')).stdout).toMatch(/dead +completed +2 +2 +0/)
})

test('nothing is sent where another number of messages was expected, or nobody can be asked', async () => {
  const select = `dlq replay --topic ${fleet.original}`
  expect(await run(`${select} --expect 3`)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('2 messages match, not 3'),
  })
  expect((await run(`${select} --max-lag 500 --curl`)).stdout).toMatch(/"max_lag": ?500/)
  expect(await run(select)).toMatchObject({ code: 64, stderr: expect.stringContaining('--yes') })
  expect(await run('dlq replay')).toMatchObject({ code: 64, stderr: expect.stringContaining('which messages') })
  for (const id of ids) expect(await readMessageRow(fleet.database.sql, id)).toMatchObject({ status: 'PENDING' })
})

test('Ctrl-C stops watching a run and leaves it going; --wait that runs out says 75', async () => {
  const RUN = await startRun({ waiting: true })
  expect(await run('timeout -s INT 2 dlq runs watch "$RUN"', { RUN })).toMatchObject({ code: 124 })
  expect(await run('dlq runs watch "$RUN" --timeout 100ms', { RUN })).toMatchObject({ code: 75 })
  expect((await run('dlq runs show "$RUN"', { RUN })).stdout).toContain('running')
  expect((await run('dlq runs pause "$RUN"; dlq runs watch "$RUN"', { RUN })).code).toBe(4)
  expect((await run('dlq runs cancel "$RUN"', { RUN })).code).toBe(0)
})

test('a topic is paused for a time, seen in the status, and resumed', async () => {
  const paused = await run(`dlq pause ${fleet.original} --for 30m --reason OPS-1 --json`)
  expect(paused.code).toBe(0)
  const { until } = JSON.parse(paused.stdout).paused as { until: string }
  const minutes = (Date.parse(until) - Date.now()) / 60_000
  expect([minutes > 28, minutes < 30.5]).toEqual([true, true])
  expect((await run('dlq status')).stdout).toMatch(new RegExp(`PAUSED ${fleet.original}.* OPS-1`))
  expect((await run(`dlq resume ${fleet.original}`)).stdout).toContain('not paused')
  expect((await run('dlq status')).stdout).not.toContain('PAUSED')
  expect(await run(`dlq pause ${fleet.original}`)).toMatchObject({ code: 64 })
  expect(await run(`dlq pause ${fleet.original} --for soon --reason x`)).toMatchObject({ code: 64 })
})

test('--wait consumed goes on until the records have been read, and says what it knows when time is up', async () => {
  const wait = (what: string) =>
    run(`dlq replay --topic ${fleet.original} --force --reason x --expect 2 --wait ${what} --timeout 3s`)
  expect(await wait('read')).toMatchObject({ code: 64 })
  // Nobody reads the topic, so nobody can say that it was read.
  const ended = await wait('consumed')
  expect(ended.code).toBe(75)
  expect(ended.stderr).toContain('it is not known whether all were read')
})

test('the value is written as its bytes, and an edited value is sent', async () => {
  expect((await run('dlq show "$ID" --value')).stdout).toBe('{"amount":-5}')
  const edit = 'dlq edit "$ID" --yes --reason OPS-1 --retry'
  expect(await run(edit, { EDITOR: 'true' })).toMatchObject({ code: 0, stderr: 'nothing was changed\n' })
  expect(await run(edit, { EDITOR: 'sed -i s/}/]/' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is none now'),
  })
  expect(await run(edit, { EDITOR: 'sed -i s/-5/5/' })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('+{"amount":5}'),
  })
  const row = await readMessageRow(fleet.database.sql, ids[0]!)
  expect(row).toMatchObject({ status: 'RESOLVED', record_value: Buffer.from('{"amount":5}') })
})

test('--curl prints the request that gives the same answer', async () => {
  const command = `dlq ls --topic ${fleet.original} --sort oldest`
  const printed = (await run(`${command} --curl`)).stdout
  expect(printed).toContain('"$API"')
  expect(printed).not.toContain(token)
  const [asked, answered] = [await run(printed), await run(`${command} --json`)]
  expect(JSON.parse(asked.stdout)).toEqual(JSON.parse(answered.stdout))
})

test('exit codes say who is to blame', async () => {
  expect(await run('dlq status', { DLQ_TOKEN: 'wrong' })).toMatchObject({ code: 77 })
  expect(await run('dlq status', { DLQ_API: 'http://127.0.0.1:2' })).toMatchObject({ code: 69, stdout: '' })
  expect(await run('dlq status', { DLQ_API: '', XDG_CONFIG_HOME: '/nowhere' })).toMatchObject({ code: 78 })
  expect(await run('dlq show 00000000-0000-8000-8000-00000000000f')).toMatchObject({ code: 1, stdout: '' })
  expect(await run('dlq ls --limit many')).toMatchObject({ code: 64 })
  expect(await run('dlq nothing')).toMatchObject({ code: 64 })
  // What only the API knows to be wrong is wrong use, too.
  for (const wrong of ['ls --from yesterday', 'ls --partition 1.5', 'show 4711', 'groups --state closed'])
    expect(await run(`dlq ${wrong}`), wrong).toMatchObject({ code: 64, stdout: '' })
})

test('times are relative as in the console', async () => {
  await fleet.database.sql`update dlq.dlq_messages set created_at = now() - interval '2 hours' where id = ${ids[0]!}`
  const found = async (times: string) => {
    const { stdout } = await run(`dlq ls --topic ${fleet.original} ${times} --json`)
    return (JSON.parse(stdout) as { messages: { id: string }[] }).messages.map(({ id }) => id)
  }
  expect(await found('--from -1h')).toEqual([ids[1]])
  expect(await found('--from=-1d --to -90m')).toEqual([ids[0]])
  expect((await run(`dlq replay --topic ${fleet.original} --from -1h --dry-run`)).stdout).toMatch(/^1 message to/)
})

test('tail with a limit ends by itself', async () => {
  const { code, stdout } = await run(`dlq tail --topic ${fleet.original} --since 1h --limit 1`)
  expect([code, stdout.trim().split('\n').length]).toEqual([0, 1])
})

test('numbers of a payload keep their digits', async () => {
  const value = '{"amount": 12345678901234567890.12}'
  const { sql } = fleet.database
  await sql`update dlq.dlq_messages set payload = ${value}::text::jsonb, record_value = ${Buffer.from(value)}
            where id = ${ids[0]!}`
  expect((await run('dlq show "$ID" --value')).stdout).toBe(value)
  for (const command of ['dlq show "$ID"', 'dlq show "$ID" --json', `dlq ls --topic ${fleet.original} --json`])
    expect((await run(command)).stdout).toContain('"amount": 12345678901234567890.12')
})

test('a login that is refused leaves the saved one as it was', async () => {
  const login = 'dlq login "$API" --name shop --token-file'
  expect((await run(`${login} ~/.dlq-token`)).code).toBe(0)
  expect((await run(`echo wrong > wrong; ${login} wrong`)).code).toBe(77)
  expect((await run('dlq status --context shop')).code).toBe(0)
})

test('bash completes the names of commands and options', async () => {
  const complete = (words: string, at: number) =>
    run(`dlq completion bash > c; source ./c; COMP_WORDS=(${words}); COMP_CWORD=${at}; _dlq; echo "\${COMPREPLY[@]}"`)
  expect((await complete('dlq gr', 1)).stdout).toBe('groups\n')
  expect((await complete('dlq groups re', 2)).stdout).toBe('resolve reopen resume\n')
  expect((await complete('dlq runs items --out', 3)).stdout).toBe('--outcome\n')
  expect((await complete('dlq ls --sort n', 3)).stdout).toBe('newest next_due\n')
  expect((await complete('dlq help gr', 2)).stdout).toBe('groups\n')
  expect((await complete('dlq help runs w', 3)).stdout).toBe('watch\n')
  // A value that nobody can guess is no option.
  expect((await complete("dlq ls --topic ''", 3)).stdout).toBe('\n')
})

test('fish completes them too', async () => {
  if ((await run('fish --version')).code !== 0) return console.log('no fish here, so not run')
  const complete = (line: string) => run(`dlq completion fish > f; fish -c "source ./f; complete -C '${line}'"`)
  expect((await complete('dlq ls --sort n')).stdout).toBe('newest\nnext_due\n')
  expect((await complete('dlq help gr')).stdout).toBe('groups\n')
  // "--limit" is an option of the list of runs alone.
  expect((await complete('dlq runs watch --l')).stdout).toBe('')
  // "--for" is an option of "dlq pause".
  expect((await complete('dlq runs pause --f')).stdout).toBe('')
  expect((await complete('dlq pause --f')).stdout).toBe('--for\n')
})

test('zsh completes them too', async () => {
  if ((await run('zsh --version')).code !== 0) return console.log('no zsh here, so not run')
  // As its completion system calls it, which needs a terminal.
  const shell = 'compdef() { :; }; compadd() { print -r -- $below; }; words=(dlq groups re); CURRENT=3'
  const { stdout, stderr } = await run(`dlq completion zsh > z; zsh -f -c '${shell}; source ./z; _dlq'`)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^show resolve .*--help\n$/)
})
