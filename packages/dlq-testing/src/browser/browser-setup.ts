// Once per vitest run that has browser tests: one Chromium, one fleet, the console's build. Tests take contexts of the
// browser and topics of their own, which costs milliseconds where a fleet of their own would cost seconds. The fleet runs
// only while a file uses it: one that waits asks PostgreSQL and Kafka for work all the time.

import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { createFleet } from '../fleet/service-fleet.ts'
import { withMaintenance } from '../postgres/maintenance.ts'
import { createReaper } from '../process/reaper.ts'
import type { TestStack } from '../provided.ts'
import { buildConsole } from './build-console.ts'
import type { ConsoleFleet } from './console-fleet.ts'
import { type FoundBrowser, findBrowser } from './find-browser.ts'

/** What the topics of browser tests begin with; the fleet of the run sees no others. */
const topicPrefix = 'browser'

/** Runs after global-setup.ts, which has provided the servers. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = project.getProvidedContext().testStack
  await using stack = new AsyncDisposableStack()
  // Before the workers begin: where the browser must be unpacked, the place of temporary files is another one meanwhile.
  const found = await findBrowser()
  const shared = stack.use(shareOnDemand(() => openFleet(servers, found)))
  const server = createServer((request, response) => {
    const asked = request.url === '/take' ? shared.take() : shared.giveBack()
    asked.then(
      (fleet) => response.end(JSON.stringify(fleet ?? null)),
      (error: Error) => response.writeHead(500).end(error.stack),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  project.provide('consoleFleetAt', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const release = stack.move()
  return () => release.disposeAsync()
}

type Opened = { fleet: ConsoleFleet } & AsyncDisposable

/** Opened for the first who takes it, and disposed of with the last who gives it back. */
function shareOnDemand(open: () => Promise<Opened>) {
  let users = 0
  let opened: Promise<Opened> | null = null
  let closed: Promise<unknown> = Promise.resolve()
  const close = async () => {
    // One that did not open has nothing to dispose of, and its takers know.
    closed =
      opened?.then(
        (opened) => opened[Symbol.asyncDispose](),
        () => {},
      ) ?? closed
    opened = null
    await closed
  }
  const giveBack = async () => {
    users -= 1
    if (users === 0) await close()
  }
  return {
    async take(): Promise<ConsoleFleet> {
      users += 1
      try {
        opened ??= closed.then(open)
        return (await opened).fleet
      } catch (error) {
        await giveBack()
        throw error
      }
    },
    giveBack,
    [Symbol.asyncDispose]: close,
  }
}

async function openFleet(servers: TestStack, found: FoundBrowser): Promise<Opened> {
  const { databaseUrl, templateDatabase, runId, kafkaBrokers } = servers
  await using stack = new AsyncDisposableStack()
  const logDir = mkdtempSync(join(tmpdir(), 'dlq-browser-'))
  stack.defer(() => rmSync(logDir, { recursive: true, force: true }))
  await buildConsole()

  const name = `${runId}_browser`
  await withMaintenance(databaseUrl, (sql) => sql`create database ${sql(name)} template ${sql(templateDatabase)}`)
  stack.defer(() =>
    withMaintenance(databaseUrl, async (sql) => {
      await sql`drop database if exists ${sql(name)} with (force)`
    }),
  )
  const url = new URL(databaseUrl)
  url.pathname = name

  const openConfig = join(logDir, 'open.yaml')
  writeFileSync(join(logDir, 'on-call-url'), 'https://127.0.0.1:1/nobody')
  writeFileSync(openConfig, JSON.stringify(openSections(logDir)))
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  const fleet = createFleet({
    ...{ databaseUrl: url.href, kafkaBrokers, reaper, logDir },
    topicPattern: `${topicPrefix}*-${runId}-*.dlq.v1`,
    consumerGroup: `${topicPrefix}-${runId}`,
    // What is sent by itself would change what a test looks at. Tests send by hand.
    // All files of tests share this fleet, and their runs.
    env: { DLQ_RETRY_AUTO_RETRY: 'false', DLQ_WORKER_MAX_ACTIVE_RUNS: '50', DLQ_CONFIG: openConfig },
  })
  stack.adopt(fleet, (fleet) => fleet.stop())
  const { tokens, config } = makeTokens()
  const configFile = join(logDir, 'config.yaml')
  writeFileSync(configFile, JSON.stringify(config))
  const [server, signedIn] = await Promise.all([
    chromium.launchServer({
      executablePath: found.executablePath,
      env: definedOnly(found.env),
      args: ['--disable-gpu'],
    }),
    fleet.start('api', 'api-with-auth', { DLQ_CONFIG: configFile }),
    fleet.startAll(),
  ])
  stack.adopt(server, (server) => server.close())
  await signedIn.ready()

  const release = stack.move()
  return {
    fleet: {
      browser: server.wsEndpoint(),
      open: fleet.get('api').url,
      guarded: signedIn.url,
      databaseUrl: url.href,
      tokens,
    },
    [Symbol.asyncDispose]: () => release.disposeAsync(),
  }
}

/** A registry that does not answer, for topics of its own: tests insert schemas as rows. A channel that nobody reads. */
function openSections(folder: string) {
  const registry = { name: 'main', url: 'http://127.0.0.1:1', topics: `${topicPrefix}-avro*` }
  return {
    schemas: { registries: [registry] },
    notifications: { channels: [{ name: 'on-call', kind: 'slack', url_file: join(folder, 'on-call-url') }] },
  }
}

/** What the guarded API hides, of topics of their own. */
const masks = [
  {
    topics: `${topicPrefix}.masked*`,
    hide: ['/customer/email', '/cards/*/number'],
    ...{ key: 'hide', headers: ['x-user'], errors: ['email'] },
  },
]

/**
 * A token for each role, one that is limited to topics that begin with "browser.mine", and one that may see behind masks.
 */
function makeTokens() {
  const roles = {
    auditor: 'sys_auditor',
    operator: 'sys_operator',
    admin: 'sys_admin',
    limited: 'sys_operator',
    unmasker: 'sys_operator',
  } as const
  const names = Object.keys(roles) as (keyof typeof roles)[]
  const tokens = Object.fromEntries(names.map((name) => [name, randomBytes(24).toString('base64url')])) as Record<
    keyof typeof roles,
    string
  >
  const entries = names.map((name) => ({
    name,
    sha256: createHash('sha256').update(tokens[name]).digest('hex'),
    role: roles[name],
    ...(name === 'limited' && { topics: [`${topicPrefix}.mine*`] }),
    ...(name === 'unmasker' && { payloads: 'full' }),
  }))
  return { tokens, config: { masks, auth: { tokens: entries, session: { key: randomBytes(32).toString('hex') } } } }
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
