// Somebody's consumer, made in a folder of its own, and what dlq-manager shows of the record that it fails at.

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDlqClient, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { eachMessage } from 'dlq-client/each.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import type { TestFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { startWatchedProcess, type WatchedProcess } from 'dlq-testing/process/watched-process.ts'

export type Recipe = {
  /** The folder beside this one. */
  name: string
  /** Shell commands in a copy of it: what makes the program, and what runs it. */
  make?: string
  run: string
  env?: Record<string, string>
}

const makeMs = 15 * 60_000
const stopMs = 20_000

/** Null where this machine has no such program. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

/** A copy of the folder `name` with the program made in it, deleted with the stack. */
export function makeApplication(stack: AsyncDisposableStack, { name, make }: Pick<Recipe, 'name' | 'make'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-recipe-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), folder, { recursive: true })
  if (make)
    execFileSync('sh', ['-ec', make], {
      cwd: folder,
      timeout: makeMs,
      env: { ...process.env, PATH: machinePath() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return folder
}

/** The tools that the machine has, not those of this repository. */
function machinePath(): string {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((path) => !path.includes('node_modules'))
    .join(delimiter)
}

export type Application = WatchedProcess & {
  /** Everything that it has printed. */
  output(): string
}

/** Runs the shell command in the folder until the stack ends. */
export async function startApplication(
  stack: AsyncDisposableStack,
  { folder, run, env }: { folder: string; run: string; env: Record<string, string> },
): Promise<Application> {
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  const logFile = join(folder, `application-${randomUUID()}.log`)
  const application = await startWatchedProcess({
    ...{ command: ['sh', '-c', `exec ${run}`], cwd: folder, reaper, logFile },
    env: { ...process.env, PATH: machinePath(), STATE: join(folder, `state-${randomUUID()}`), ...env },
  })
  stack.defer(() => application.stop('SIGTERM', stopMs))
  return { ...application, output: () => readFileSync(logFile, 'utf8') }
}

/** Fails, is stored, is retried, is handled. Returns the lines of the page. */
export async function tryRecipe(fleet: TestFleet, { name, make, run, env = {} }: Recipe): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const folder = makeApplication(stack, { name, ...(make && { make }) })
  const KEY = `order-${Object.values(env).join('-')}${name}`
  const GROUP = fleet.topics.groupName(`billing-${KEY}`)
  const BROKERS = fleet.topics.brokers.join()
  const application = await startApplication(stack, {
    ...{ folder, run },
    env: { BROKERS, TOPIC: fleet.original, GROUP, KEY, ...env },
  })
  await fleet.producer.send({
    topic: fleet.original,
    messages: [{ key: KEY, value: '{"amount":5}', headers: { trace: 'abc' } }],
  })

  const client = createDlqClient({ baseUrl: fleet.services.get('api').url })
  const found = await eventually(async () => {
    if (application.hasExited()) throw new Error(application.lastOutput())
    const [only, ...others] = await Array.fromAsync(eachMessage(client, { key: KEY }))
    if (!only || others.length > 0) throw new Error(`${1 + others.length} messages\n${application.lastOutput()}`)
    return only
  })
  const path = { id: found.id }
  const read = () => dataOf(client.GET('/api/v1/dlq/messages/{id}', { params: { path } }))
  const before = await read()
  await dataOf(client.POST('/api/v1/dlq/messages/{id}/retry', { params: { path } }))
  await eventually(() => {
    if (!application.output().includes(`handled ${KEY}`)) throw new Error(application.lastOutput())
  })
  return shown(before, await read(), { [fleet.original]: 'orders', [GROUP]: 'billing', [KEY]: 'order-7' })
}

type Detail = components['schemas']['MessageDetail']

/** As `dlq show` says it, without what differs from one time to the next. */
function shown(before: Detail, after: Detail, names: Readonly<Record<string, string>>): string {
  const { original, dlq } = before
  const lines = [
    `error          ${before.error_class}: ${before.error_message}`,
    `stack trace    ${before.error_stacktrace === null ? 'none' : before.error_stacktrace.split('\n')[0]!.slice(0, 100)}`,
    `original       ${original.topic}, partition and offset ${original.offset === null ? 'unknown' : 'known'} (${original.topic_source})`,
    `consumer group ${before.consumer_group}`,
    `dlq topic      ${dlq?.topic}`,
    `key, value     ${before.key?.value}, ${JSON.stringify(before.payload)}`,
    `own header     trace: ${before.headers?.find(({ name }) => name === 'trace')?.value}`,
    `retry          ${after.attempts.map(({ outcome, target }) => `${outcome} to ${target?.topic}`).join(', ')}; ${after.status}`,
  ]
  return Object.entries(names).reduce((text, [name, word]) => text.replaceAll(name, word), lines.join('\n'))
}
