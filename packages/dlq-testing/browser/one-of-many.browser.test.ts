// From one thing to the next, from one tab to another, from one clock to another: what is said belongs to what is shown.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'

const console_ = useConsole()
const expected = [/Failed to load resource/]

test('the answer for one message is not shown at the next one', async () => {
  for (const amount of [1, 2])
    await insertGroupedRow(console_, {
      ...{ original_topic: 'browser-neighbours', error_message: `amount ${amount} is odd` },
      ...{ record_value: Buffer.from('1'), record_headers: console_.sql.json([]) },
    })
  const page = await console_.open('/messages?topic=browser-neighbours')
  await page.getByRole('link', { name: 'amount 2 is odd' }).click()
  await page.getByRole('heading', { name: 'amount 2 is odd' }).waitFor()
  await page.keyboard.press(']')
  await page.getByRole('heading', { name: 'amount 1 is odd' }).waitFor()
  await page.route(/\/retry$/, (route) => route.fulfill({ json: { message: 'sent to browser-neighbours' } }))
  await page.keyboard.press('r')
  await page.getByText('sent to browser-neighbours').waitFor()
  await page.keyboard.press('[')
  await page.getByRole('heading', { name: 'amount 2 is odd' }).waitFor()
  expect(await page.getByText('sent to browser-neighbours').count()).toBe(0)
})

test('the message that is open in its group is the same after a reload, though newer ones have come', async () => {
  const insert = (n: number) =>
    insertGroupedRow(console_, {
      ...{ original_topic: 'browser-opened', error_class: 'OpenedFailure', error_message: 'it is open' },
      ...{ record_value: Buffer.from(`{"number":${n}}`), record_headers: console_.sql.json([]) },
    })
  const first = await insert(1)
  await insert(2)
  const [row] = await console_.sql<[{ group_id: string }]>`
    select group_id from dlq.dlq_messages where id = ${first}`
  const page = await console_.open(`/groups/${row.group_id}`)
  await page.getByText('"number": 2').waitFor()
  await page.keyboard.press('j')
  await page.getByText('"number": 1').waitFor()
  await insert(3)
  await page.reload()
  await page.getByRole('heading', { name: 'Message 3' }).waitFor()
  await page.getByText('"number": 1').waitFor()
})

test('the draft of a run over a thousand chosen messages can be reloaded and passed on', async () => {
  await console_.sql`
    insert into dlq.dlq_messages (original_topic, error_message, status)
    select 'browser-chosen', 'one of many', 'PENDING' from generate_series(1, 1000)`
  const page = await console_.open(`/messages?topic=browser-chosen`)
  await page.getByText('1,000 messages match.').waitFor()
  await eventually(async () => {
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    expect(await page.getByRole('table', { name: 'Messages' }).getAttribute('aria-rowcount')).toBe('1001')
  })
  await page.evaluate('scrollTo(0, 0)')
  await page.getByRole('checkbox', { name: 'Select what is loaded' }).click({ force: true })
  await page.getByText('1,000 messages selected').waitFor()
  await page.getByRole('link', { name: 'Retry…' }).click()
  await page.getByRole('button', { name: 'Retry 1,000 messages to browser-chosen' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Retry 1,000 messages to browser-chosen' }).waitFor()
  await page.goto(`${page.url().slice(0, -40)}`)
  await page.reload()
  await page.getByText('The link was cut').waitFor()
  expect(await page.getByRole('button', { name: /^Retry/ }).isDisabled()).toBe(true)
})

test('what somebody else has noted meanwhile is not taken back with one’s own change', async () => {
  const id = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser-taken-back', error_message: 'amount -5 is negative' },
    ...{ error_class: 'com.example.TakenBack', record_value: Buffer.from('1'), record_headers: console_.sql.json([]) },
  })
  const [row] = await console_.sql<[{ group_id: string }]>`select group_id from dlq.dlq_messages where id = ${id}`
  const page = await console_.open(`/groups/${row.group_id}`)
  await page.getByRole('heading', { name: 'Newest' }).waitFor()
  await page.keyboard.press('d')
  await page.getByText(/^Resolved; it comes back/).waitFor()
  const address = `${console_.fleet.open}/api/v1/groups/${row.group_id}`
  await fetch(address, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ note: 'the partner knows' }),
  })
  await page.keyboard.press('z')
  await page.getByText('Taken back').waitFor()
  expect(await (await fetch(address)).json()).toMatchObject({ state: 'open', note: 'the partner knows' })
})

test('who may only read is offered no key that does nothing', async () => {
  const id = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser-read-only', error_message: 'amount -5 is negative' },
    ...{ record_value: Buffer.from('1'), record_headers: console_.sql.json([]) },
  })
  const [row] = await console_.sql<[{ group_id: string }]>`select group_id from dlq.dlq_messages where id = ${id}`
  const page = await console_.open(`/groups/${row.group_id}`, { as: 'auditor' })
  await page.getByRole('heading', { name: 'Newest' }).waitFor()
  await page.getByRole('button', { name: 'auditor' }).waitFor()
  for (const key of ['m', 'n']) await page.keyboard.press(key)
  await page.waitForTimeout(500)
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('g')
  await page.keyboard.press('g')
  await page.getByText(/^j k move/).waitFor()
  expect(await page.getByText('s snooze').count()).toBe(0)
})

test('who signs in again in one tab is signed in in the others', async () => {
  const page = await console_.open('/groups', { as: 'operator' })
  await page.getByRole('heading', { name: 'Groups' }).waitFor()
  await page.context().clearCookies()
  await page.getByLabel('Token').waitFor()
  const second = await page.context().newPage()
  await second.goto(page.url())
  await second.getByLabel('Token').fill(console_.fleet.tokens.operator)
  await second.getByRole('button', { name: 'Sign in' }).click()
  await second.getByLabel('Token').waitFor({ state: 'hidden' })
  await page.getByLabel('Token').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'operator' }).waitFor()
})

/** The page of a run that retries and has this state for as long as it is looked at. */
async function openRun(status: string, clockMs = Date.now()): Promise<Page> {
  const id = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser-runs', error_message: 'amount -5 is negative' },
    ...{ record_value: Buffer.from('1'), record_headers: console_.sql.json([]) },
  })
  const answer = await fetch(`${console_.fleet.open}/api/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'dead', selection: { ids: [id] } }),
  })
  const run = (await answer.json()) as { id: string }
  const page = await console_.open('/settings', { expected })
  await page.clock.install({ time: clockMs })
  await page.route(`**/api/v1/runs/${run.id}`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), kind: 'retry', status, ended_at: null } })
  })
  // Each stream opens again at once: the page is told something all the time.
  const events = `retry: 200\nevent: progress\ndata: {"status":"${status}"}\n\n`
  await page.route('**/events', (route) => route.fulfill({ contentType: 'text/event-stream', body: events }))
  await page.goto(`${console_.fleet.open}/console/runs/${run.id}`)
  await page.getByRole('group', { name: 'What can be done with this run' }).waitFor()
  return page
}

test.each([
  ['being cancelled', 'cancelling', [/^Pause/, /^Rate/, /^Cancel/]],
  ['queued', 'queued', [/^Pause/]],
])('a run that is %s offers nothing that would be refused', async (_, status, refused) => {
  const page = await openRun(status)
  const actions = page.getByRole('group', { name: 'What can be done with this run' })
  for (const name of [/^Pause/, /^Rate/, /^Cancel/])
    expect(await actions.getByRole('button', { name, disabled: true }).count(), String(name)).toBe(
      refused.some((one) => one.source === name.source) ? 1 : 0,
    )
})

test('a run that is told of is live, whatever the clock of the browser says', async () => {
  const page = await openRun('running', Date.now() - 3 * 3_600_000)
  for (let looks = 0; looks < 15; looks++) {
    expect(await page.getByText(/^nothing new for/).count()).toBe(0)
    await page.waitForTimeout(200)
  }
})
