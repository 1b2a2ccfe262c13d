import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { isAlive } from './runner-lock.ts'
import { readStackFile, type StackFile } from './stack-file.ts'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const running = new Set<ChildProcess>()
const dirs: string[] = []

afterEach(async () => {
  for (const child of running) child.kill('SIGTERM')
  await until('the runners end', () => running.size === 0, 30_000)
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

function start(args: string[], dir = newDir()) {
  const child = spawn(process.execPath, [main, '--data-dir', dir, ...args], {
    env: { ...process.env, DATABASE_URL: '', KAFKA_BROKERS: '' },
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

async function until<T>(what: string, probe: () => T | Promise<T>, timeoutMs: number): Promise<NonNullable<T>> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(100)) {
    const value = await probe()
    if (value) return value
  }
  throw new Error(`not within ${timeoutMs / 1000} s: ${what}`)
}

function living({ pids: { runner, ...others } }: StackFile): number[] {
  return Object.values(others).filter((pid): pid is number => pid !== null && isAlive(pid) && !isZombie(pid))
}

function isZombie(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !existsSync(`/proc/${pid}/exe`)
}

async function statusesOf({ api }: StackFile): Promise<string[]> {
  const response = await fetch(`${api}/api/v1/dlq/orders?page_size=100`)
  const { messages } = (await response.json()) as { messages: { status: string }[] }
  return messages.map(({ status }) => status)
}

test('the demo shows messages resolve and one go DEAD within a minute; a killed service comes back; Ctrl-C leaves nothing', {
  timeout: 400_000,
}, async () => {
  const fleet = start([])
  const stack = await until('the fleet is ready', fleet.stack, 150_000)
  expect(Object.keys(stack.pids).sort()).toEqual(['api', 'ingester', 'kafka', 'postgres', 'retrier', 'runner'])

  const second = start([], fleet.dir)
  expect(await second.exited).toBe(0)
  expect(second.output()).toContain('running here already')
  expect(second.output()).toContain(stack.api)

  process.kill(stack.pids.ingester, 'SIGKILL')
  await until(
    'stack.json names the new ingester',
    () => (fleet.stack()?.pids.ingester ?? stack.pids.ingester) !== stack.pids.ingester,
    20_000,
  )
  await until(
    'one is resolved and one is DEAD',
    async () => new Set(await statusesOf(stack)).isSupersetOf(new Set(['RESOLVED', 'DEAD'])),
    60_000,
  )

  const last = fleet.stack()!
  fleet.child.kill('SIGINT')
  expect(await fleet.exited).toBe(0)
  expect(living(last)).toEqual([])
  expect(fleet.stack()).toBeNull()
})

test('a runner that is killed takes everything with it, and the next one goes on with the data', {
  timeout: 400_000,
}, async () => {
  const fleet = start(['--no-demo'])
  const stack = await until('the fleet is ready', fleet.stack, 150_000)
  fleet.child.kill('SIGKILL')
  await fleet.exited
  await until('every process is gone', () => living(stack).length === 0, 20_000)

  const next = start(['--no-demo'], fleet.dir)
  await until('the fleet is ready again', () => next.stack()?.pids.runner === next.child.pid, 150_000)
  expect(next.output()).toContain('The database is up to date')
})
