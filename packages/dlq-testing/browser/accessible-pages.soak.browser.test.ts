// axe on every page of groups, messages and runs, as it is and with each of its dialogs and menus open: in light and in
// dark, wide and narrow.

import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type ConsoleTopics, createConsoleTopics, failureNamed, sendLetters } from '../src/browser/console-topics.ts'
import { countSteps } from '../src/browser/counted-steps.ts'
import { expectAccessibleInEachLook } from '../src/browser/expect-accessible.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { useTopics } from '../src/kafka/test-topics.ts'

const console_ = useConsole()
const topics = useTopics()

let failed: ConsoleTopics
let message: string
let group: string

beforeAll(async () => {
  failed = await createConsoleTopics(topics, 'axe')
  const error = failureNamed('AxeFailure', 'amount -5 is negative')
  const value = '{"order_id":"4711","amount":-5,"note":null,"paid":false}'
  const headers = [['trace', Buffer.from('a')]] as const
  const ids = await sendLetters(
    topics,
    console_,
    failed,
    Array.from({ length: 4 }, () => ({ value, error, headers: [...headers] })),
  )
  message = ids.at(-1)!
  const [row] = await console_.sql<[{ group_id: string }]>`select group_id from dlq.dlq_messages where id = ${message}`
  group = row.group_id
  await console_.sql`update dlq.dlq_messages set status = 'DEAD', next_retry_at = null where id = ${ids[0]!}`
})

/** Opens a menu or a dialog, looks at it, and closes it again. */
async function within(page: Page, open: string | RegExp, shown: string): Promise<void> {
  await page.getByRole('button', { name: open }).first().click()
  await page
    .getByRole(shown as 'dialog')
    .first()
    .waitFor()
  await expectAccessibleInEachLook(page)
  await page.keyboard.press('Escape')
  await page
    .getByRole(shown as 'dialog')
    .first()
    .waitFor({ state: 'hidden' })
}

test('Now', async () => {
  const page = await console_.open('/')
  await page.locator(`a[href$="/groups/${group}"]`).waitFor()
  await page.getByText('By topic and consumer group').click()
  await expectAccessibleInEachLook(page)
  await within(page, /anonymous/, 'menu')
})

test('Groups', async () => {
  const page = await console_.open(`/groups?dlq_topic=${failed.dlq}`)
  await page.getByRole('link', { name: /AxeFailure/ }).waitFor()
  await expectAccessibleInEachLook(page)
  await within(page, /Order/, 'listbox')
})

test('a group, its state, its owner and its note', async () => {
  const page = await console_.open(`/groups/${group}`)
  await page.getByText('"order_id": "4711"').waitFor()
  await expectAccessibleInEachLook(page)
  await within(page, 'open', 'menu')
  await within(page, 'nobody', 'menu')
  await within(page, 'More runs', 'menu')
  await within(page, 'Add a note', 'dialog')
})

test('Messages, with the filter, what narrows it and a selection', async () => {
  const page = await console_.open(`/messages?topic=${failed.original}`)
  await page
    .getByRole('row', { name: /amount -5/ })
    .first()
    .waitFor()
  await page.getByText('Narrow down').click()
  await page.getByRole('region', { name: 'Consumer group' }).waitFor()
  await page.getByText('As numbers').click()
  await page.getByRole('heading', { level: 1 }).focus()
  await page.keyboard.press('x')
  await page.getByText('1 message selected').waitFor()
  await expectAccessibleInEachLook(page)
  await within(page, 'Filters', 'dialog')
  await within(page, 'Export', 'menu')
})

test('a list without a message', async () => {
  const page = await console_.open('/messages?key=no-such-key')
  await page.getByText('No dead letter matches.').waitFor()
  await expectAccessibleInEachLook(page)
})

test('a message, with its parts and what is asked before it is changed', async () => {
  const page = await console_.open(`/messages/${message}`)
  await page.getByText('"order_id": "4711"').waitFor()
  await expectAccessibleInEachLook(page)
  for (const tab of ['Headers', 'Policy']) {
    await page.getByRole('tab', { name: tab }).click()
    await expectAccessibleInEachLook(page)
  }
  await within(page, 'More', 'menu')
  await within(page, 'Give up', 'dialog')
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: /Schedule/ }).click()
  await page.getByRole('dialog').waitFor()
  await page.getByText('At another time').click()
  await page.getByRole('button', { name: 'Schedule' }).click()
  await page.getByText('Choose a day and a time.').waitFor()
  await expectAccessibleInEachLook(page)
})

test('what is not there', async () => {
  const page = await console_.open(`/messages/${'0'.repeat(8)}-0000-7000-8000-${'0'.repeat(12)}`)
  await page.getByRole('heading', { name: 'No such message' }).waitFor()
  await expectAccessibleInEachLook(page)
})

test('an edit, its parts and its review', async () => {
  const page = await console_.open(`/messages/${message}/edit`)
  await page.getByRole('button', { name: 'Review' }).waitFor()
  await expectAccessibleInEachLook(page)
  await page.getByRole('tab', { name: 'Headers' }).click()
  await expectAccessibleInEachLook(page)
  await page.getByRole('tab', { name: 'Value' }).click()
  await page.getByRole('textbox', { name: 'Value' }).focus()
  await countSteps(page, 'keyboard').type('5')
  await page.keyboard.press('ControlOrMeta+Enter')
  await page.getByText('What will be stored').waitFor()
  await expectAccessibleInEachLook(page)
})

test('a draft of a run, with what DEAD ones need', async () => {
  const page = await console_.open(`/runs/new?kind=retry&group=${group}&canary=careful`)
  await page.getByRole('button', { name: /^Retry [34] messages/ }).waitFor()
  await page
    .getByText(/is DEAD/)
    .first()
    .waitFor()
  await expectAccessibleInEachLook(page)
  await within(page, /Rate/, 'listbox')
})

test('a run under way, its rate, what is asked before it ends, and the list of runs', async () => {
  const ids = await sendLetters(
    topics,
    console_,
    failed,
    Array.from({ length: 3 }, () => ({ value: '{}', error: failureNamed('AxeRun', 'no') })),
  )
  const answer = await fetch(`${console_.fleet.open}/api/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // biome-ignore lint/suspicious/noThenProperty: the name that the API gives it; nobody awaits it
    body: JSON.stringify({ kind: 'retry', selection: { ids }, canary: { first: 1, then: '50%', wait: '1h' } }),
  })
  expect(answer.status).toBe(202)
  const { id } = (await answer.json()) as { id: string }
  const page = await console_.open(`/runs/${id}`)
  await page
    .getByText(/1 of 3 sent/)
    .first()
    .waitFor()
  await expectAccessibleInEachLook(page)
  await within(page, /^Rate/, 'menu')
  await within(page, 'Cancel…', 'dialog')
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click()
  await page.getByRole('table').waitFor()
  await expectAccessibleInEachLook(page)
  await fetch(`${console_.fleet.open}/api/v1/runs/${id}/cancel`, { method: 'POST' })
})
