// What maria and jo did before the visitor came: owners, notes, a snooze, and messages that are given up. They work
// through an API of their own that knows them by tokens, so that the audit has their names; it ends when they are done.

import { createHash, randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from 'dlq-testing/fleet/service-process.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'

type Person = 'maria' | 'jo'
type Group = { id: string; error_class: string; dlq_topics?: string[] }

const patienceMs = 60_000
const snoozeMs = 90_000
/** How many orders are booked by hand. The handbook's incident begins with DEAD messages of this group. */
const bookedByHand = 12

/** Once for the demo's data: groups that already have an owner are left alone. A fault is logged, and changes nothing else. */
export async function letPeopleWork(options: {
  databaseUrl: string
  kafkaBrokers: readonly string[]
  reaper: Reaper
  logFile: string
  signal: AbortSignal
}): Promise<void> {
  const { databaseUrl, kafkaBrokers, reaper, logFile, signal } = options
  const tokens: Record<Person, string> = { maria: randomBytes(24).toString('hex'), jo: randomBytes(24).toString('hex') }
  const configFile = `${logFile}.config.yaml`
  const people = Object.entries(tokens).map(([name, token]) => ({
    name,
    sha256: createHash('sha256').update(token).digest('hex'),
    role: 'sys_operator',
  }))
  writeFileSync(configFile, JSON.stringify({ auth: { tokens: people }, server: { console: false, drain_delay: '0s' } }))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(configFile, { force: true }))
  try {
    const api = stack.adopt(
      await startService({
        ...{ name: 'api', databaseUrl, kafkaBrokers, reaper, logFile },
        env: { DLQ_CONFIG: configFile, NODE_NO_WARNINGS: '1' },
      }),
      (api) => api.stop('SIGTERM', 5000),
    )
    await api.ready()
    const ask = async (person: Person, methodAndPath: string, body?: object): Promise<unknown> => {
      const [method, path] = methodAndPath.split(' ') as [string, string]
      const answer = await fetch(`${api.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${tokens[person]}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        signal,
      })
      if (!answer.ok) throw new Error(`${methodAndPath} answered ${answer.status}: ${await answer.text()}`)
      return answer.json()
    }
    await work(ask, signal)
  } catch (error) {
    if (!signal.aborted) writeFileSync(logFile, `${(error as Error).stack}\n`, { flag: 'a' })
  }
}

type Ask = (person: Person, methodAndPath: string, body?: object) => Promise<unknown>

async function work(ask: Ask, signal: AbortSignal): Promise<void> {
  const [amount, warehouse, label] = await groupsOf(ask, ['InvalidAmount', 'KeyError', 'HttpTimeout'], signal)
  if (!amount || !warehouse || !label || ((await ask('maria', `GET /groups/${amount.id}`)) as { owner: unknown }).owner)
    return
  await ask('maria', `PATCH /groups/${amount.id}`, {
    owner: 'maria',
    note: 'The shop sends refunds as negative amounts since Tuesday. PAY-2291',
  })
  const query = `group_id=${amount.id}&status=PENDING&sort=oldest&limit=${bookedByHand}`
  const { messages } = (await ask('maria', `GET /messages?${query}`)) as { messages: { id: string }[] }
  await ask('maria', 'POST /runs', {
    kind: 'dead',
    selection: { ids: messages.map(({ id }) => id) },
    reason: 'PAY-2291: these refunds are booked by hand',
  })
  await ask('jo', `PATCH /groups/${warehouse.id}`, {
    owner: 'jo',
    note: 'Release 4.12 left out warehouse_id. It was taken back; these will not work any more. SHIP-118',
  })
  await ask('jo', 'POST /runs', {
    kind: 'dead',
    selection: { group: warehouse.id },
    reason: 'SHIP-118: the shop sends these shipments again itself',
  })
  await ask('jo', `PATCH /groups/${label.id}`, {
    state: 'snoozed',
    snoozed_until: new Date(Date.now() + snoozeMs).toISOString(),
    note: 'The tax office had an outage; their status page says that it is over.',
  })
}

/** The groups of these errors, in this order, once the ingester has stored the past. */
async function groupsOf(ask: Ask, classes: readonly string[], signal: AbortSignal): Promise<(Group | undefined)[]> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline && !signal.aborted; await sleep(500)) {
    const { groups } = (await ask('maria', 'GET /groups?state=open&limit=50')) as { groups: Group[] }
    const found = classes.map((name) => groups.find(({ error_class }) => error_class.includes(name)))
    if (found.every((group) => group !== undefined)) return found
  }
  return []
}
