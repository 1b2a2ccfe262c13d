// Small things that stop somebody for a moment: an address that is none, a field that does not let go, a name that is an
// id, a text that fills the page, a link that says something else tomorrow.

import { expect, test } from 'vitest'
import { countSteps } from '../src/browser/counted-steps.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'

const console_ = useConsole()

const letter = (columns: Record<string, unknown> = {}) =>
  insertGroupedRow(console_, {
    ...{ original_topic: 'browser-obstacles', error_class: 'com.example.ObstacleException' },
    ...{ error_message: 'amount -5 is negative', record_value: Buffer.from('{"amount":-5}') },
    ...{ record_headers: console_.sql.json([]), ...columns },
  })

const groupOf = async (id: string): Promise<string> => {
  const [row] = await console_.sql<[{ group_id: string }]>`select group_id from dlq.dlq_messages where id = ${id}`
  return row.group_id
}

/** What was copied, as the page reads it. */
const clipboard = 'navigator.clipboard.readText()'

test('an address with an id that is none says so, and offers nothing that cannot help', async () => {
  for (const kind of ['message', 'group', 'run']) {
    const page = await console_.open(`/${kind}s/not-an-id`)
    await page.getByRole('heading', { name: `No such ${kind}` }).waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  }
})

test('Escape closes the commands at once, also with words in them, and what is typed next is a key of the page', async () => {
  const page = await console_.open('/topics')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const steps = countSteps(page, 'keyboard')
  await steps.press('ControlOrMeta+k')
  await steps.type(`nothing-${crypto.randomUUID()}`)
  await page.getByRole('menuitem', { name: /^Search messages/ }).waitFor()
  await steps.press('Enter')
  await page.getByText(/^Nothing: no message has the key/).waitFor()
  await steps.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await steps.press('g')
  await steps.press('r')
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
})

test('Escape leaves the search on top, too', async () => {
  const page = await console_.open('/topics')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const steps = countSteps(page, 'keyboard')
  await steps.press('/')
  await steps.type(`nothing-${crypto.randomUUID()}`)
  // Escape that gives up the conversion of Japanese letters, say, is not for the page.
  const stays = `(() => {
    const field = document.activeElement
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true }))
    return document.activeElement === field
  })()`
  expect(await page.evaluate(stays)).toBe(true)
  await steps.press('Enter')
  await page.getByText(/^Nothing: no message has the key/).waitFor()
  await steps.press('Escape')
  await page.getByText(/^Nothing: no message has the key/).waitFor({ state: 'hidden' })
  await steps.press('g')
  await steps.press('r')
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
})

test('a filter that is wrong is named, without the offer to ask the same again, and is mended in its chip', async () => {
  await letter({ error_message: 'no answer of the card network' })
  const page = await console_.open('/messages?topic=browser-obstacles&q=no+answer&partition=abc')
  await page.getByText('must be a whole number').waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Without partition' }).click()
  await page.getByText('no answer of the card network').first().waitFor()
  // Its words are still one filter.
  await page.getByRole('button', { name: 'q no answer' }).click()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByText('no answer of the card network').first().waitFor()
  expect(new URL(page.url()).searchParams.get('q')).toBe('no answer')
})

test('a run is named by the title of its error group, wherever it is named', async () => {
  const group = await groupOf(await letter())
  const { title } = (await (await fetch(`${console_.fleet.open}/api/v1/groups/${group}`)).json()) as { title: string }
  const answer = await fetch(`${console_.fleet.open}/api/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'dead', selection: { filter: { group_id: group } } }),
  })
  const { id } = (await answer.json()) as { id: string }
  const page = await console_.open(`/runs/${id}`)
  await page.getByText(`messages of “${title}”`).waitFor()
  await page.goto(`${console_.fleet.open}/console/runs`)
  await page.getByText(`messages of “${title}”`).first().waitFor()
  expect(await page.getByText(group).count()).toBe(0)
})

test('an error of a thousand words leaves room for what can be done about it, and is whole on demand', async () => {
  const words = Array.from({ length: 1000 }, (_, n) => `word${String.fromCharCode(97 + (n % 26))}`).join(' ')
  const error_class = `com.example.${'Very'.repeat(120)}LongException`
  const group = await groupOf(await letter({ error_message: words, error_class }))
  for (const screen of ['desktop', 'phone'] as const) {
    const page = await console_.open(`/groups/${group}`, { screen })
    const retry = page.getByRole('link', { name: 'Retry…' })
    await retry.waitFor()
    expect((await retry.boundingBox())!.y).toBeLessThan(screen === 'phone' ? 844 : 500)
    // The class and the words.
    const all = page
      .locator('main header')
      .first()
      .getByRole('button', { name: /^Show all/ })
    expect(await all.count()).toBe(2)
    await all.last().click()
    await page.getByRole('button', { name: 'Show less' }).waitFor()
  }
})

test('a link says the same list tomorrow, and a live link goes on', async () => {
  await letter()
  const page = await console_.open('/messages?topic=browser-obstacles&from=-24h&sort=oldest')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = async (name: string): Promise<URL> => {
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByRole('menuitem', { name }).click()
    await page.getByText('Copied the').waitFor()
    return new URL(await page.evaluate<string>(clipboard))
  }
  const live = await copied('Copy live link')
  expect(live.href).toBe(page.url())
  await page.getByText('Copied the').waitFor({ state: 'hidden' })
  const pinned = await copied('Copy link')
  expect(pinned.searchParams.get('sort')).toBe('oldest')
  const hours = (Date.now() - Date.parse(pinned.searchParams.get('from')!)) / 3_600_000
  expect(hours).toBeGreaterThan(23.9)
  expect(hours).toBeLessThan(24.1)
  await page.goto(pinned.href)
  await page.getByText('amount -5 is negative').first().waitFor()
  // Nothing here is relative, so there is one kind of link.
  await page.keyboard.press('Shift+y')
  await eventually(async () => expect(await page.evaluate<string>(clipboard)).toBe(page.url()))
})

test('a value of a megabyte is laid out, and the page goes on meanwhile', async () => {
  const rows = Array.from({ length: 15_000 }, (_, id) => ({ id, name: 'n'.repeat(50) }))
  const value = JSON.stringify({ first: 1, rows })
  expect(value.length).toBeGreaterThan(1_000_000)
  const id = await letter({ record_value: Buffer.from(value) })
  const page = await console_.open(`/messages/${id}`)
  const shown = page.locator('pre', { hasText: '"rows": [' })
  await shown.waitFor()
  expect(await shown.textContent()).toMatch(/^{\n {2}"first": 1,\n {2}"rows": \[\n {4}{\n {6}"id": 0,/)
})

test('without a clipboard API a text is copied by its selection, and where the browser refuses that, too, it is said', async () => {
  const id = await letter()
  const page = await console_.open(`/messages/${id}`)
  await page.getByRole('button', { name: 'Copy' }).first().waitFor()
  await page.evaluate(`
    Object.defineProperty(navigator, 'clipboard', { value: undefined })
    addEventListener('copy', ({ target }) => { window.copied = target.value }, true)`)
  const heading = page.getByRole('heading', { level: 1 })
  await heading.focus()
  await page.keyboard.press('y')
  await page.getByText('Copied the id').waitFor()
  expect(await page.evaluate('window.copied')).toBe(id)
  expect(await page.evaluate(`document.activeElement === document.querySelector('h1')`)).toBe(true)
  await page.evaluate('document.execCommand = () => false')
  await page.keyboard.press('y')
  await page.getByText('The browser does not let this page copy the id').waitFor()
})
