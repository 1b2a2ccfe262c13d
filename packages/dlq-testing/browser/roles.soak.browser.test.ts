// What each role sees: nothing that the API would refuse. Every button of every page is pressed, by somebody who may only
// read and by somebody who may change a few topics.

import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'

const console_ = useConsole()
const topic = 'browser.mine.roles'

let message: string
let group: string
let run: string

beforeAll(async () => {
  message = await insertGroupedRow(console_, {
    ...{ original_topic: topic, dlq_topic: `${topic}.dlq.v1`, error_message: 'amount -5 is negative' },
    ...{ error_class: 'com.example.RolesFailure', record_value: Buffer.from('{"amount":-5}') },
  })
  const [row] = await console_.sql<[{ group_id: string }]>`select group_id from dlq.dlq_messages where id = ${message}`
  group = row.group_id
  const answer = await fetch(`${console_.fleet.open}/api/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'dead', selection: { ids: [message] } }),
  })
  run = ((await answer.json()) as { id: string }).id
  await eventually(async () => {
    const [{ status }] = await console_.sql<[{ status: string }]>`select status from dlq.dlq_runs where id = ${run}`
    expect(status).toBe('completed')
  })
})

const pagesOf = (): readonly [path: string, words: string | RegExp][] => [
  ['/', /burn|open/],
  [`/groups?dlq_topic=${topic}.dlq.v1`, 'RolesFailure'],
  [`/groups/${group}`, 'amount -5 is negative'],
  [`/messages?topic=${topic}`, 'amount -5 is negative'],
  [`/messages/${message}`, 'amount -5 is negative'],
  [`/messages/${message}/edit`, 'Review'],
  [`/runs/new?kind=retry&group=${group}`, 'The dry run and the start'],
  [`/runs/${run}`, /message/],
  ['/runs', 'Runs'],
  ['/topics', 'Topics'],
  [`/topics/${topic}`, 'Policy in force'],
  ['/policies', 'Policies'],
  [`/policies/${topic}/edit`, 'Waits that follow'],
  ['/audit', 'Audit'],
  ['/events', 'What happened'],
  ['/system', 'Scheduled jobs'],
  ['/system/sagas', 'Workflows'],
  ['/settings', 'Settings'],
]

/** Buttons that lead away, or that a test of a reader need not press. */
const harmless = /^(Commands|Live updates|Copy|Back to the first settings|Search)/

const pressable = 'main button:not([aria-disabled="true"]):not([disabled]):not([role=tab])'

/** What the API has refused so far. */
function watchRefusals(page: Page): string[] {
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(`${response.request().method()} ${new URL(response.url()).pathname}`)
  })
  return refused
}

/** Gives every reason, and answers whatever a dialog asks for. */
async function answerDialog(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  for (const field of await dialog.getByRole('textbox').or(dialog.getByRole('combobox')).all())
    await field.fill('a look').catch(() => {})
  await dialog
    .getByRole('button')
    .last()
    .click({ timeout: 2000 })
    .catch(() => {})
}

async function pressEverything(page: Page, path: string, ready: string | RegExp): Promise<number> {
  const back = async () => {
    await page.goto(`${new URL(page.url()).origin}/console${path}`)
    await page.getByText(ready).first().waitFor()
    // Until it is known who looks, nothing is disabled.
    await page.getByRole('button', { name: /auditor/ }).waitFor()
  }
  await back()
  const names = await page.locator(pressable).evaluateAll((all) => all.map((one) => one.textContent ?? ''))
  for (const [at, name] of names.entries()) {
    if (harmless.test(name.trim())) continue
    const button = page.locator(pressable).nth(at)
    if ((await button.count()) === 0) continue
    await button.click({ timeout: 2000, force: true }).catch(() => {})
    const menu = page.getByRole('menu')
    if (await menu.isVisible()) {
      const items = await menu.getByRole('menuitem').count()
      for (let item = 0; item < items; item += 1) {
        if (!(await menu.isVisible())) await button.click({ timeout: 2000, force: true }).catch(() => {})
        await menu
          .getByRole('menuitem')
          .nth(item)
          .click({ timeout: 2000 })
          .catch(() => {})
        if (await page.getByRole('dialog').isVisible()) await answerDialog(page)
        await page.keyboard.press('Escape')
        if (!page.url().includes(path.split('?')[0]!)) await back()
      }
    } else if (await page.getByRole('dialog').isVisible()) await answerDialog(page)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    if (!page.url().includes(path.split('?')[0]!)) await back()
  }
  return names.length
}

test('who only reads finds no button that is refused, on no page', async () => {
  const page = await console_.open('/', { as: 'auditor' })
  page.on('dialog', (dialog) => void dialog.accept())
  const refused = watchRefusals(page)
  let pressed = 0
  for (const [path, ready] of pagesOf()) pressed += await pressEverything(page, path, ready)
  console.log(`a reader pressed ${pressed} buttons on ${pagesOf().length} pages`)
  expect(refused).toEqual([])
  expect(pressed).toBeGreaterThan(30)
})

test('who may see a few topics only is refused by no page that they open', async () => {
  const page = await console_.open('/', { as: 'limited' })
  const refused = watchRefusals(page)
  for (const [path, ready] of pagesOf().filter(([path]) => !path.startsWith('/runs/'))) {
    await page.goto(`${console_.fleet.guarded}/console${path}`)
    await page.getByText(ready).first().waitFor()
    await page.waitForLoadState('networkidle')
  }
  expect(refused).toEqual([])
})

test('an operator sees what an admin may do, and why they may not', async () => {
  const page = await console_.open('/policies', { as: 'operator' })
  const button = page.getByRole('button', { name: 'New policy…', disabled: true })
  await button.waitFor()
  await button.focus()
  await page.getByText('needs the role sys_admin; you have sys_operator').waitFor()
})
