// `npm run screenshots` runs this: the demo's day on servers of its own, without retries, so that nothing moves while the
// pictures are taken. Writes infra/docs/console/NAME.png; with names as arguments only those.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrateUp } from 'dlq-db/migrate.ts'
import { buildConsole } from 'dlq-testing/browser/build-console.ts'
import { findBrowser } from 'dlq-testing/browser/find-browser.ts'
import { screens } from 'dlq-testing/browser/screens.ts'
import { createFleet } from 'dlq-testing/fleet/service-fleet.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { startStack } from 'dlq-testing/stack.ts'
import kafkajs from 'kafkajs'
import { type Browser, chromium } from 'playwright-core'
import { makePast } from '../demo/past.ts'
import { letPeopleWork } from '../demo/people.ts'
import { sendPast } from '../demo/send-past.ts'
import { createDemoTopics } from '../fleet.ts'
import { type Shot, shots } from './shots.ts'
import { smallPng } from './small-png.ts'

const folder = fileURLToPath(new URL('../../../docs/console/', import.meta.url))
const patienceMs = 120_000

const wanted = process.argv.slice(2)
await using stack = new AsyncDisposableStack()
const dataDir = mkdtempSync(join(tmpdir(), 'dlq-screenshots-'))
stack.defer(() => rmSync(dataDir, { recursive: true, force: true }))
const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
const [found, servers] = await Promise.all([
  findBrowser(),
  startStack({ dataDir, reaper, log: console.error, postgresSettings: { fsync: 'off' } }),
  buildConsole(),
])
stack.adopt(servers, (servers) => servers.stop({ discard: true }))
const { databaseUrl, kafkaBrokers } = servers
await Promise.all([migrateUp({ databaseUrl }), createDemoTopics(kafkaBrokers)])
const fleet = createFleet({
  ...{ databaseUrl, kafkaBrokers, reaper, logDir: dataDir, topicPattern: '*.dlq.v1', consumerGroup: 'screenshots' },
  env: { DLQ_RETRY_AUTO_RETRY: 'false', DLQ_APP_ENVIRONMENT: 'production' },
})
stack.adopt(fleet, (fleet) => fleet.stop())
await fleet.startAll()
await sendDay()
await letPeopleWork({ databaseUrl, kafkaBrokers, reaper, logFile: join(dataDir, 'people.log'), signal: stopAfter() })
const browser = stack.adopt(
  await chromium.launch({ executablePath: found.executablePath, args: ['--disable-gpu'] }),
  (browser) => browser.close(),
)
mkdirSync(folder, { recursive: true })
for (const shot of shots.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  await take(browser, shot)
  console.log(`${folder}${shot.name}.png`)
}

async function sendDay(): Promise<void> {
  const now = Date.now()
  const kafka = new kafkajs.Kafka({ clientId: 'screenshots', brokers: kafkaBrokers, logLevel: kafkajs.logLevel.ERROR })
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await sendPast(producer, now).finally(() => producer.disconnect())
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; ) {
    const { text } = await fleet.request('/api/v1/messages?limit=1')
    const { pagination } = JSON.parse(text) as { pagination: { total: { value: number } } }
    if (pagination.total.value >= makePast(now).length) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('the day was not stored in time')
}

async function take(browser: Browser, { name, path, group, colors, screen, words }: Shot): Promise<void> {
  const origin = fleet.get('api').url
  const context = await browser.newContext({
    ...screens[screen],
    ...{ colorScheme: colors, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC' },
  })
  try {
    // Nobody who looks at the pictures visits for the first time.
    await context.addInitScript({ content: "localStorage.setItem('dlq-console.hints', 'seen')" })
    const page = await context.newPage()
    const id = group === undefined ? '' : await idOfGroup(group)
    const message = path.includes('{message}') ? await newestOf(id) : ''
    await page.goto(`${origin}/console/${path.replace('{group}', id).replace('{message}', message)}`)
    await page.getByText(words).first().waitFor({ timeout: patienceMs })
    await page.evaluate('document.fonts.ready')
    writeFileSync(`${folder}${name}.png`, smallPng(await page.screenshot()))
  } finally {
    await context.close()
  }
}

async function idOfGroup(errorClass: string): Promise<string> {
  const { text } = await fleet.request('/api/v1/groups?limit=50')
  const { groups } = JSON.parse(text) as { groups: { id: string; error_class: string }[] }
  const found = groups.find(({ error_class }) => error_class.includes(errorClass))
  if (found === undefined) throw new Error(`no group is of ${errorClass}`)
  return found.id
}

async function newestOf(group: string): Promise<string> {
  const { text } = await fleet.request(`/api/v1/messages?group_id=${group}&limit=1`)
  const { messages } = JSON.parse(text) as { messages: { id: string }[] }
  return messages[0]!.id
}

function stopAfter(): AbortSignal {
  return AbortSignal.timeout(patienceMs)
}
