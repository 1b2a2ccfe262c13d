import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openDocumentShell } from 'dlq-testing/documents/document-shell.ts'
import { shellBlocks } from 'dlq-testing/documents/shell-blocks.ts'
import { afterAll, afterEach, expect, test } from 'vitest'
import { isAlive } from './runner-lock.ts'
import { readStackFile, type StackFile } from './stack-file.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const running = new Set<ChildProcess>()
/** Starting everything, with new databases, takes long on a busy machine. */
const patienceMs = 240_000
const testMs = 600_000
const dirs: string[] = []

afterEach(async () => {
  for (const child of running) child.kill('SIGTERM')
  await until('the runners end', () => running.size === 0)
})

afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true, maxRetries: 10 })
})

/** From the sources, as people do. */
const asPeopleDo = { DLQ_TEST_SERVICES: '' }

function start({ dir = newDir(), env = {} }: { dir?: string; env?: NodeJS.ProcessEnv } = {}) {
  const child = spawn(process.execPath, [main, '--data-dir', dir], {
    // Three retries, after 1, 2 and 4 seconds, so that a message is soon DEAD.
    env: {
      ...process.env,
      DATABASE_URL: '',
      KAFKA_BROKERS: '',
      DLQ_RETRY_INITIAL_DELAY: '1s',
      DLQ_RETRY_MAX_RETRIES: '3',
      ...env,
    },
  })
  running.add(child)
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  child.stderr.on('data', (text) => {
    output += text
  })
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      running.delete(child)
      resolve(code)
    })
  })
  return { child, dir, exited, output: () => output, stack: () => readStackFile(`${dir}/stack.json`) }
}

function newDir(): string {
  dirs.push(mkdtempSync(`${tmpdir()}/dlq-start-`))
  return dirs.at(-1)!
}

async function until<T>(what: string, probe: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(100)) {
    // Asks again while a service does not answer yet.
    const value = await Promise.try(probe).catch(() => null)
    if (value) return value
  }
  throw new Error(`not within ${patienceMs / 1000} s: ${what}`)
}

function living({ pids: { runner, ...others } }: StackFile): number[] {
  return Object.values(others).filter((pid): pid is number => pid !== null && isAlive(pid) && !isZombie(pid))
}

function isZombie(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !existsSync(`/proc/${pid}/exe`)
}

/** The commands that the document gives for a running `npm start`. The stack's folder is .dev of the clone there. */
async function runCommandsOf(document: string, dir: string): Promise<void> {
  const clone = newDir()
  symlinkSync(dir, `${clone}/.dev`)
  symlinkSync(`${root}/packages`, `${clone}/packages`)
  await using shell = openDocumentShell({ cwd: clone, env: {} })
  for (const { runIn, text } of shellBlocks(`${root}/${document}`)) {
    if (runIn !== 'infra/dev/src/start.kafka.test.ts' || text === 'npm start\n') continue
    if (text.startsWith('psql') && !hasPsql()) console.log(`no psql here, so not run:\n${text}`)
    else expect(await shell.run(text)).toContain('orders')
  }
}

function hasPsql(): boolean {
  return spawnSync('psql', ['--version']).status === 0
}

async function statusesOf({ api }: StackFile): Promise<string[]> {
  const response = await fetch(`${api}/api/v1/dlq/orders?page_size=100`)
  const { messages } = (await response.json()) as { messages: { status: string }[] }
  return messages.map(({ status }) => status)
}

test('the demo shows messages resolve and one go DEAD; nothing that is killed stays, and the data does; Ctrl-C leaves no process', {
  timeout: testMs,
}, async () => {
  const fleet = start({ env: asPeopleDo })
  const stack = await until('the fleet is ready', fleet.stack)
  expect(Object.keys(stack.pids).sort()).toEqual(['api', 'ingester', 'kafka', 'postgres', 'retrier', 'runner'])

  // The file is written a moment before the words.
  await until('the console is named first', () =>
    /running\.\s+Console +http:\/\/127\.0\.0\.1:\d+\/console\/ /.test(fleet.output()),
  )
  expect(await (await fetch(stack.console)).text()).toContain('<base href="/console/">')

  const second = start({ dir: fleet.dir })
  expect(await second.exited).toBe(0)
  expect(second.output()).toContain('running here already')
  expect(second.output()).toContain(stack.api)

  process.kill(stack.pids.ingester, 'SIGKILL')
  await until(
    'stack.json names the new ingester',
    () => (fleet.stack()?.pids.ingester ?? stack.pids.ingester) !== stack.pids.ingester,
  )
  await until('one is resolved and one is DEAD', async () =>
    new Set(await statusesOf(stack)).isSupersetOf(new Set(['RESOLVED', 'DEAD'])),
  )

  await runCommandsOf('README.md', fleet.dir)

  const killed = fleet.stack()!
  fleet.child.kill('SIGKILL')
  await fleet.exited
  await until('every process is gone', () => living(killed).length === 0)

  const next = start({ dir: fleet.dir })
  await until('the fleet is ready again', () => next.stack()?.pids.runner === next.child.pid)
  expect(next.output()).toContain('The database is up to date')

  const last = next.stack()!
  // As Ctrl-C comes where npm passes it on.
  next.child.kill('SIGINT')
  await until('it stops', () => next.output().includes('Stopping'))
  next.child.kill('SIGINT')
  expect(await next.exited).toBe(0)
  expect(living(last)).toEqual([])
  expect(next.stack()).toBeNull()
})
