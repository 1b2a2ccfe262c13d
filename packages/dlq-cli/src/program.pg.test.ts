// Commands as they end: what they write, to whom they say the rest, and their exit codes.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { useInProcess } from './testing/test-in-process.ts'

const database = useDatabase()
const cli = useInProcess(useServiceDatabase(database))

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_message_edits', 'dlq.dlq_messages'))

/** A record of Kafka: without a key, and a tombstone unless `value` says otherwise. */
const insertRecord = (value: string | null) =>
  insertMessageRow(database.sql, { record_headers: [], record_value: value === null ? null : Buffer.from(value) })
const run = (line: string, person = {}) => cli.run(line.split(' '), person)

describe('a value without bytes', () => {
  test('is written as it is, and one that is null is said to be', async () => {
    expect(await run(`show ${await insertRecord('')} --value`)).toEqual({ code: 0, stdout: '', stderr: '' })
    const tombstone = await insertRecord(null)
    for (const part of ['value', 'key'])
      expect(await run(`show ${tombstone} --${part}`)).toEqual({
        ...{ code: 0, stdout: '', stderr: `the record has no ${part}: it is null\n` },
      })
    expect(await run('show 00000000-0000-8000-8000-00000000000f --value')).toMatchObject({ code: 1, stdout: '' })
  })

  test.each(['', null])('%j can be edited', async (before) => {
    const id = await insertRecord(before)
    const edit = `edit ${id} --yes --reason OPS-1`
    expect(await run(edit, { env: { EDITOR: 'true' } })).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        before === null ? /it is null.*\nnothing was changed\n$/ : /^nothing was changed\n$/,
      ),
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: before === null ? null : Buffer.of() })
    expect(await run(edit, { env: { EDITOR: "printf '{}\\n' >" } })).toMatchObject({ code: 0 })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: Buffer.from('{}') })
  })
})

test('the bytes of a key and of a value are not mixed', async () => {
  const refused = { code: 64, stdout: '', stderr: expect.stringContaining('--value and --key exclude each other') }
  expect(await run(`show ${await insertRecord('')} --value --key`)).toMatchObject(refused)
})

test.each(['--limit 2', '--sort oldest', '--watch'])('an export and %s are refused together', async (option) => {
  await insertRecord('{}')
  expect(await run('ls --export csv')).toMatchObject({ code: 0, stdout: expect.stringContaining('\n') })
  const { code, stdout, stderr } = await run(`ls --export csv ${option}`)
  expect([code, stdout, stderr]).toEqual([64, '', expect.stringContaining(`leave out ${option.split(' ')[0]}`)])
})

test.each(['0s', '99ms', '30d', 'often'])('--watch %s is refused: it would not wait', async (time) => {
  expect(await run(`status --watch ${time}`)).toMatchObject({ code: 64, stdout: '' })
})

test.each(['pause orders --reason x --for', 'tail --since', 'groups snooze 40d5ef4c-4e07-8437-9157-a0e170bad031'])(
  '%s says in one line that a time is too long',
  async (command) => {
    expect(await run(`${command} 99999999999d`)).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/^dlq: .*not a time such as .*99999999999d\n$/),
    })
  },
)

test.each(['ls --limit', 'replay --all --rate', 'replay --all --canary', 'drop --all --expect'])(
  '%s wants a number, and says which option does',
  async (command) => {
    const [, option] = /(--[a-z]+)$/.exec(command)!
    expect(await run(`${command} many`)).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(new RegExp(`option '${option} <number>|option '${option} <per-second>`)),
    })
  },
)

test.each([
  ['show', '', "argument 'id' is empty"],
  ['drop', '', '--reason', 'x', "argument 'ids' is empty"],
  ['drop', '--topic', 'a', '--topic', 'b', '--reason', 'x', "option '--topic <name>' is given twice"],
  ['drop', '--topic', 'a', '--reason', ' ', '--yes', 'say why: --reason'],
  ['replay', '--topic', 'a', '--force', '--reason', '', '--yes', 'say why: --reason'],
  ['replay', '--all', '--canary', '0', '--yes', 'canary.first: must be at least 1'],
  ['ls', '--limit', '0', 'It must be a whole number, at least 1'],
  ['runs', '--limit', '1.5', 'It must be a whole number, at least 1'],
])('%s %s … is wrong use, and says why', async (...line) => {
  const said = line.pop()
  expect(await cli.run(line)).toMatchObject({ code: 64, stderr: expect.stringContaining(said!) })
})

test('what sends nothing takes no rate', async () => {
  expect(await run('drop --all --reason x --yes --rate 1')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("unknown option '--rate'"),
  })
})

test('what was typed is kept where it is not stored, and an edit begins again with it', async () => {
  const id = await insertRecord('{}')
  const typed = (text: string) => ({ env: { VISUAL: `printf '${text}' >` } })
  const kept = ({ stderr }: { stderr: string }) => {
    const [, file = '', of] = /VISUAL="cp '(.+)'" dlq edit (.+)$/m.exec(stderr) ?? []
    expect(of).toBe(id)
    return file
  }
  const noJson = await run(`edit ${id} --yes`, typed('{"a":'))
  expect(noJson.code).toBe(1)
  expect(readFileSync(kept(noJson), 'utf8')).toBe('{"a":')

  const confirm = async () => {
    await database.sql`update dlq.dlq_messages set record_value = '[]' where id = ${id}`
    return true
  }
  const late = kept(await run(`edit ${id}`, { ...typed('{"a":1}'), confirm }))
  expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: Buffer.from('[]') })
  expect(await run(`edit ${id} --yes`, { env: { VISUAL: `cp '${late}'` } })).toMatchObject({ code: 0 })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: Buffer.from('{"a":1}') })
  for (const file of [kept(noJson), late]) rmSync(dirname(file), { recursive: true })
})

test('an editor that saves no UTF-8, or deletes the file, changes nothing; what was typed is kept', async () => {
  const id = await insertRecord('{}')
  const edit = (editor: string) => run(`edit ${id} --yes`, { env: { VISUAL: editor } })
  const latin1 = await edit(`printf '{"a":"caf\\351"}' >`)
  expect(latin1).toMatchObject({ code: 1, stderr: expect.stringMatching(/^dlq: what was typed is not in UTF-8/) })
  const [, file = ''] = /kept in (\S+):/.exec(latin1.stderr) ?? []
  expect(readFileSync(file, 'latin1')).toBe('{"a":"café"}')
  rmSync(dirname(file), { recursive: true })
  expect(await edit('rm')).toMatchObject({ code: 1, stderr: 'dlq: rm left no file; nothing was changed\n' })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: Buffer.from('{}') })
  expect(await edit("printf '[]\\r\\n' >")).toMatchObject({ code: 0 })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: Buffer.from('[]') })
})

test('an edit that changes too many lines to compare is stored without showing them', async () => {
  const lines = (indent: number) => JSON.stringify(Array.from({ length: 600 }).fill(1), null, indent)
  const id = await insertRecord(lines(1))
  const folder = mkdtempSync(join(tmpdir(), 'dlq-edit-'))
  writeFileSync(join(folder, 'typed'), lines(2))
  const edited = await run(`edit ${id} --yes`, { env: { VISUAL: `cp ${folder}/typed` } })
  rmSync(folder, { recursive: true })
  expect(edited).toMatchObject({ code: 0, stderr: 'more than 1,000 lines differ: too many to show\n' })
})

test('an edit of a long line shows what changed, and not the line', async () => {
  const of = (amount: number) => JSON.stringify({ a: 'x'.repeat(50_000), amount, b: 'y'.repeat(50_000) })
  const id = await insertRecord(of(-5))
  const { stderr } = await run(`edit ${id} --yes`, { env: { VISUAL: "sed -i 's/-5/507/'" } })
  expect(stderr).toMatch(/^what changed, from character 50,018 on:\n- …x+","amount":-5,"b":"y+…\n\+ …x+","amount":507,/)
  expect(stderr.length).toBeLessThan(400)
  expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: Buffer.from(of(507)) })
})

test('on a terminal the bytes of a value do not steer it, and elsewhere they are exact', async () => {
  const id = await insertRecord('a\u001b[2J\r\nb')
  expect((await run(`show ${id} --value`)).stdout).toBe('a\u001b[2J\r\nb')
  expect((await run(`show ${id} --value`, { columns: 80 })).stdout).toBe('a\\u001b[2J\nb')
  expect((await run(`groups assign ${id} \u009b2J --curl`)).stdout).toContain('"\\u009b2J"')
})

test('an edit whose retry is refused is said to be stored', async () => {
  const id = await insertMessageRow(database.sql, { record_value: Buffer.from('{}'), held_by_route: true })
  const edited = await run(`edit ${id} --yes --retry`, { env: { VISUAL: `printf '{"a":1}' >` } })
  expect(edited).toMatchObject({ code: 1, stderr: expect.stringMatching(/^it is changed\ndlq: /m) })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ record_value: Buffer.from('{"a":1}') })
})

test.each(['true', "printf '{}\\n' >", 'false'])('nothing is kept where the editor is %s', async (editor) => {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-edit-'))
  const id = await insertRecord('[]')
  vi.stubEnv('TMPDIR', folder)
  await run(`edit ${id} --yes --reason OPS-1`, { env: { VISUAL: editor } })
  vi.unstubAllEnvs()
  expect(readdirSync(folder)).toEqual([])
  rmSync(folder, { recursive: true })
})

test('an edit is forced only with a reason, and only where it is retried', async () => {
  const edit = `edit ${await insertRecord('{}')} --yes --force`
  const env = { EDITOR: 'true' }
  expect(await run(edit, { env })).toMatchObject({ code: 64, stderr: 'dlq: --force needs --retry\n' })
  expect(await run(`${edit} --retry`, { env })).toMatchObject({ code: 64, stderr: 'dlq: say why: --reason\n' })
})

test('a doctor ends with 1 where there is a fault, and warnings alone leave it 0', async () => {
  const levels = async () => {
    const { code, stdout } = await run('doctor --json')
    const { checks } = JSON.parse(stdout) as { checks: { level: string }[] }
    return { code, levels: new Set(checks.map(({ level }) => level)) }
  }
  // Nobody sends.
  expect(await levels()).toEqual({ code: 1, levels: new Set(['ok', 'warning', 'fault']) })
  await database.sql`insert into dlq.dlq_retriers (id, publishes, seen_at)
                     values ('r', 'exactly-once', now())`
  expect(await levels()).toEqual({ code: 0, levels: new Set(['ok', 'warning']) })
})

test('a figure says no more than is known: shares are not rounded up, and what was not counted to its end is a bound', async () => {
  const message = await insertRecord('1')
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, settled_at, failed_again_at)
    select ${message}, n, gen_random_uuid(), 'published', 'orders', now(), case n when 1 then now() end
    from generate_series(1, 400) n`
  expect((await run('status')).stdout).toContain(', 99 % of the attempts')

  await run('replay --topic orders.events.v1 --yes')
  await database.sql`update dlq.dlq_runs set matched = 1000000, matched_relation = 'gte'`
  const { stdout } = await run('runs --json')
  const [{ id }] = (JSON.parse(stdout) as { runs: [{ id: string }] }).runs
  expect((await run('runs')).stdout).toContain('at least 1,000,000')
  expect((await run(`runs show ${id}`)).stdout).toContain('at least 1,000,000 matched')
})

test('a list that is a part says so', async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, payload, error_message) select 'orders-' || n, '{}', 'late'
    from generate_series(1, 1001) n`
  const more = 'there are more topics: these have the most open messages'
  expect((await run('status')).stdout).toContain(more)
  await database.sql`delete from dlq.dlq_messages where original_topic not like 'orders-1_'`
  expect((await run('status')).stdout).not.toContain(more)

  await run('replay --topic orders-1* --yes')
  const [begun] = await database.sql<{ id: string }[]>`
    update dlq.dlq_messages m set run_id = r.id
    from (select id from dlq.dlq_runs order by created_at desc limit 1) r returning r.id`
  const items = await run(`runs items ${begun!.id} --limit 1`, { columns: 80, confirm: async () => false })
  expect(items).toMatchObject({ code: 0, stderr: 'there are more: --limit\n' })
})

test('an error group whose retries are paused says so, and goes on when somebody resumes it', async () => {
  const { sql } = database
  const id = '00000000-0000-8000-8000-000000000020'
  await sql`insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
            values (${id}, 1, 'Late', 'm', 'Late', now(), now())`
  await sql`insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at)
            values ('paused.dlq.v1', ${id}, now(), now())`
  await insertMessageRow(sql, { dlq_topic: 'paused.dlq.v1', original_topic: 'paused', group_id: id })
  await sql`insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at)
            values ('paused', ${id}, '25 failed again', now())`
  expect((await run('groups --topic paused.dlq.v1', { columns: 80 })).stdout).toMatch(/ open, paused /)
  expect((await run(`groups show ${id}`)).stdout).toMatch(/^ {2}paused {4}paused since \S+: 25 failed again$/m)
  expect(await run(`groups resume ${id}`)).toMatchObject({ code: 0, stdout: 'resumed for paused\n' })
  expect((await run('groups --topic paused.dlq.v1')).stdout).not.toContain('paused ')
})

test('wrong use is said in one voice, with where to read on', async () => {
  expect(await run('ls --stauts DEAD')).toEqual({
    ...{ code: 64, stdout: '' },
    stderr: "dlq: unknown option '--stauts'\n(Did you mean --status?)\nsee dlq ls --help\n",
  })
  expect(await run('ls --\u001b[2J')).toMatchObject({
    stderr: expect.stringContaining("unknown option '--\\u001b[2J'"),
  })
  for (const wrong of ['runs wtch', 'help runs wtch'])
    expect(await run(wrong)).toEqual({
      ...{ code: 64, stdout: '' },
      stderr:
        "dlq: unknown command 'wtch'; known here: show, watch, pause, resume, cancel, items\nsee dlq runs --help\n",
    })
  expect((await run('help runs watch')).stdout).toMatch(/^Usage: dlq runs watch /)
  expect(await run('ls --failed-from 24h')).toEqual({
    ...{ code: 64, stdout: '', stderr: 'dlq: --failed-from: 24h ago is -24h\n' },
  })
})

test('on a terminal a message is told in lines that fit, and elsewhere whole', async () => {
  const trace = `com.example.Late: ${'x'.repeat(300)}`
  const id = await insertMessageRow(database.sql, { record_headers: database.sql.json([['trace', trace]]) })
  expect((await run(`show ${id}`)).stdout).toContain(trace)
  const { stdout } = await run(`show ${id}`, { columns: 60 })
  expect(stdout).toMatch(/^ {2}header {6}trace: com\.example\.Late: x+…$/m)
  expect(stdout).toMatch(/^ {2}failed {6}1 time, \d+ s ago$/m)
  // A narrow terminal breaks the line.
  expect((await run(`show ${id}`, { columns: 20 })).stdout).toContain('trace: com.example.Late: xxx')
  expect((await run(`show ${id} --wide`, { columns: 60 })).stdout).toContain(trace)
})

test('error groups stand in the order in which they were seen, and their last ones are not left out in silence', async () => {
  const { sql } = database
  const at = ['2026-01-01', '2026-01-03', '2026-01-02']
  for (const [n, seen] of at.entries()) {
    const id = `00000000-0000-8000-8000-00000000001${n}`
    // Stored in another order than they failed, as where a backlog is read.
    await sql`insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
              values (${id}, 1, 'Late', 'm', ${`seen ${seen}`}, ${seen}, now() + ${n} * interval '1 s')`
    await sql`insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at)
              values ('seen.dlq.v1', ${id}, ${seen}, ${seen})`
    await insertMessageRow(sql, { dlq_topic: 'seen.dlq.v1', group_id: id, record_timestamp: seen, created_at: seen })
  }
  const seen = ({ stdout }: { stdout: string }) => stdout.match(/seen 2026\S+/g)
  expect(seen(await run('groups'))).toEqual(['seen 2026-01-03', 'seen 2026-01-02', 'seen 2026-01-01'])
  const first = await run('groups --limit 1', { columns: 80, ask: () => Promise.reject(new Error('not asked')) })
  expect(first.stderr).toBe('there are more: --limit\n')
  // The API gives a hundred at once.
  await sql`insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
            select gen_random_uuid(), 1, 'Many', 'm', 'one of many', now(), now() from generate_series(1, 205)`
  await sql`insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at)
            select 'many.dlq.v1', id, now(), now() from dlq.dlq_groups where error_class = 'Many'`
  await sql`insert into dlq.dlq_messages (original_topic, error_message, dlq_topic, group_id)
            select 'many', 'm', 'many.dlq.v1', id from dlq.dlq_groups where error_class = 'Many'`
  const many = JSON.parse((await run('groups -q many --limit 203 --json')).stdout) as { groups: { id: string }[] }
  expect(new Set(many.groups.map(({ id }) => id)).size).toBe(203)
  expect(many).toMatchObject({ next_cursor: expect.any(String) })
})
