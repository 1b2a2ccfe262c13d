// What is published works outside this repository: types, the README's examples, a browser's bundle, the command line.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { publint } from 'publint'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import {
  compile,
  createProject,
  exampleText,
  findNodes,
  packPackage,
  runTool,
  type TestProject,
} from './test-project.ts'

const versions = process.env.DLQ_SOAK === '1' ? [20, 22, 24] : []
const exampleMs = 60_000
const names = ['dlq-client', 'dlq-cli']
const attw = join(import.meta.dirname, '../../node_modules/@arethetypeswrong/cli/dist/index.js')

const fleet = useFleet('packages')
const folder = mkdtempSync(join(tmpdir(), 'dlq-packed-'))
const tarballs: Record<string, string> = {}
let nodes: string[]
let project: TestProject | undefined

beforeAll(async () => {
  const api = fleet.services.start('api').then((service) => service.ready())
  const packed = names.map(async (name) => {
    tarballs[name] = await packPackage(name, folder)
  })
  nodes = await findNodes(versions, folder)
  await Promise.all([api, ...packed])
  project = await createProject({
    'dlq-client': `file:${tarballs['dlq-client']}`,
    'dlq-manager-cli': `file:${tarballs['dlq-cli']}`,
    ...{ kafkajs: '2.2.4', postgres: '3.4.9', '@types/node': '20' },
  })
  const group = fleet.topics.groupName('billing')
  const examples = {
    'operator.ts': exampleText('operator.ts', {
      'https://dlq.example.com': fleet.services.get('api').url,
      "'orders'": `'${fleet.original}'`,
    }),
    'consumer.ts': exampleText('consumer.ts', {
      'kafka-0:9092': fleet.topics.brokers.join(),
      "topic: 'orders'": `topic: '${fleet.original}', fromBeginning: true`,
      "groupId: 'billing'": `groupId: process.env.GROUP ?? '${group}'`,
    }),
    // Somebody's application runs until it is told to stop; this one until the first message is handled.
    'processor.ts': exampleText('processor.ts', {
      'await processing.stop()': 'await handled; await processing.stop(); await sql.end()',
    }),
  }
  for (const [name, text] of Object.entries(examples)) writeFileSync(join(project.folder, 'src', name), text)
  const globals = 'declare global { var handled: Promise<void> }\nexport {}\n'
  writeFileSync(join(project.folder, 'src', 'globals.ts'), globals)
  await compile(project.folder)
})
afterAll(async () => {
  await fleet.services.stop()
  project?.[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

test.each(names)('publint and attw find nothing wrong with %s', async (name) => {
  const { messages } = await publint({
    pack: { tarball: new Uint8Array(readFileSync(tarballs[name]!)).buffer },
    strict: true,
  })
  expect(messages).toEqual([])
  if (name === 'dlq-client') await runTool(process.execPath, [attw, tarballs[name]!, '--profile', 'esm-only'], folder)
})

test('a bundle for browsers holds the API client and nothing of Node', async () => {
  const input = join(project!.folder, 'out', 'operator.js')
  const { output } = await build({
    input,
    platform: 'browser',
    write: false,
    logLevel: 'silent',
    onLog: (_, log) => expect(log.code).not.toBe('UNRESOLVED_IMPORT'),
  })
  expect(output).toHaveLength(1)
  expect(output[0].code).toContain('/api/v1/messages')
  expect(output[0].code).not.toMatch(/from ["']node:|require\(/)
})

type Ended = { code: number | null; output: string }

/** Runs a compiled example to its end, after `before`. One that does not end is killed. */
async function runExample(
  node: string,
  name: string,
  before: string,
  env: Record<string, string> = {},
): Promise<Ended> {
  const { child, ended } = startExample(node, name, before, env)
  const timer = setTimeout(() => child.kill('SIGKILL'), exampleMs)
  return ended.finally(() => clearTimeout(timer))
}

function startExample(node: string, name: string, before: string, env: Record<string, string>) {
  const preload = join(project!.folder, `before-${name}`)
  writeFileSync(preload, before)
  const child = spawn(node, ['--import', preload, join(project!.folder, 'out', name)], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const note = (text: Buffer) => {
    output += text.toString()
  }
  child.stdout.on('data', note)
  child.stderr.on('data', note)
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, output })))
  return { child, ended }
}

describe('on every Node that is supported', () => {
  const each = async (check: (node: string, version: string) => Promise<void>) => {
    for (const node of nodes) await check(node, (await runTool(node, ['--version'], folder)).trim())
  }

  test('the example that calls the API revives the messages', () =>
    each(async (node, version) => {
      const id = await insertMessageRow(fleet.database.sql, {
        original_topic: fleet.original,
        status: 'DEAD',
        error_class: 'TimeoutError',
      })
      const { code, output } = await runExample(node, 'operator.js', '')
      expect(code, `${version}: ${output}`).toBe(0)
      expect(output).toContain(`${id} is PENDING`)
      await fleet.database.sql`delete from dlq.dlq_messages where id = ${id}`
    }))

  test('the example that pulls handles a message', () =>
    each(async (node, version) => {
      const { sql } = fleet.database
      await sql`insert into dlq.dlq_policies (pattern, delivery) values ('order.created', 'pull') on conflict do nothing`
      const [row] = await sql`select dlq.dead_letter('order.created', '{"id":"7"}'::jsonb, 'no stock') as id`
      const before = 'globalThis.handled = new Promise((resolve) => { globalThis.enrich = async () => resolve() })'
      const { code, output } = await runExample(node, 'processor.js', before, { DATABASE_URL: fleet.database.url })
      expect(code, `${version}: ${output}`).toBe(0)
      expect(await readMessageRow(sql, row!.id)).toMatchObject({ status: 'RESOLVED' })
      // The next Node need not wait six hours for the next pass.
      await sql`delete from dlq.dlq_locks where id = 'pass order.created'`
    }))

  test('the example of a consumer writes a dead letter', () =>
    each(async (node, version) => {
      const GROUP = fleet.topics.groupName(`billing-${version}`)
      const before = `globalThis.takePayment = async () => { throw new TypeError('no card in ${version}') }`
      const { child, ended } = startExample(node, 'consumer.js', before, { GROUP })
      try {
        await fleet.producer.send({ topic: fleet.original, messages: [{ value: '{"amount":5}' }] })
        await eventually(async () => {
          const letters = await readTopic(fleet.topics.kafka, {
            topic: fleet.dlq,
            groupId: fleet.topics.groupName('reader'),
          })
          expect(letters.map(({ headers }) => String(headers?.['dlq-error-message']))).toContain(
            `no card in ${version}`,
          )
        })
      } finally {
        child.kill('SIGKILL')
        await ended
      }
    }))

  test('the command line shows the status', () =>
    each(async (node, version) => {
      const dlq = join(project!.folder, 'node_modules/dlq-manager-cli/dist/dlq.js')
      const help = await runTool(node, [dlq, '--version'], folder)
      expect(help.trim(), version).toBe(packageJson.version)
      const env = { ...process.env, DLQ_API: fleet.services.get('api').url }
      const child = spawn(node, [dlq, 'status', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
      expect(JSON.parse(String(await child.stdout.toArray().then((chunks) => Buffer.concat(chunks))))).toHaveProperty(
        'counts',
      )
    }))
})
