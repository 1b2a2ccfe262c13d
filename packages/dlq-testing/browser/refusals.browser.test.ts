// What somebody has typed and asked for while the API refuses it: nothing is lost, and nothing is said that is not so.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { countSteps } from '../src/browser/counted-steps.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'

const console_ = useConsole()
const expected = [/Failed to load resource/]
const refusal = { status: 503, json: { error: { code: 'SYS_DLQ_UNAVAILABLE', message: 'the database is away' } } }

const letter = (columns: Record<string, unknown> = {}) =>
  insertGroupedRow(console_, {
    ...{ original_topic: 'browser-refusals', error_class: 'com.example.RefusedException' },
    ...{ error_message: 'amount -5 is negative', record_value: Buffer.from('{"amount":-5}') },
    ...{ record_headers: console_.sql.json([]), ...columns },
  })

const groupOf = async (id: string): Promise<string> => {
  const [row] = await console_.sql<[{ group_id: string }]>`select group_id from dlq.dlq_messages where id = ${id}`
  return row.group_id
}

/** Refuses what asks for a change at such an address, until the answer is called. */
async function refuse(page: Page, path: RegExp, methods: readonly string[]): Promise<() => Promise<void>> {
  await page.route(path, (route) =>
    methods.includes(route.request().method()) ? route.fulfill(refusal) : route.fallback(),
  )
  return () => page.unroute(path)
}

const changed = async (id: string, change: object): Promise<void> => {
  const address = `${console_.fleet.open}/api/v1/dlq/messages/${id}`
  const etag = (await fetch(address)).headers.get('etag')!
  const answer = await fetch(address, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'if-match': etag },
    body: JSON.stringify(change),
  })
  expect(answer.status).toBe(200)
}

test('a note that is not taken stays where it was typed, beside what was wrong', async () => {
  const group = await groupOf(await letter())
  const page = await console_.open(`/groups/${group}`, { expected })
  const allow = await refuse(page, /\/api\/v1\/groups\//, ['PATCH'])
  await page.getByRole('button', { name: 'Add a note' }).click()
  await page.getByRole('textbox', { name: 'Note' }).fill('restart the payments service first')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByText('the database is away').waitFor()
  await allow()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Note: restart the payments service first').waitFor()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
})

test('a group that is not changed says so until the next change', async () => {
  const group = await groupOf(await letter({ error_class: 'com.example.StaysException' }))
  for (const path of [`/groups/${group}`, '/groups?q=StaysException']) {
    const page = await console_.open(path, { expected })
    await page.getByText('StaysException').first().waitFor()
    const allow = await refuse(page, /\/api\/v1\/groups\//, ['PATCH'])
    await page.keyboard.press('a')
    const said = page.getByRole('alert').filter({ hasText: /^Not changed/ })
    await said.waitFor()
    await allow()
    await page.keyboard.press('a')
    await said.waitFor({ state: 'hidden' })
  }
})

test('a change that is saved and then not sent is said to be saved, and is sent when it is asked for again', async () => {
  const id = await letter()
  const page = await console_.open(`/messages/${id}/edit`, { expected })
  await page.getByRole('tab', { name: 'Key' }).click()
  await page.getByLabel('Key is written as').click()
  await page.getByRole('option', { name: 'text' }).click()
  await page.getByRole('textbox', { name: 'Key' }).fill('order-4711')
  await page.getByRole('button', { name: 'Review' }).click()
  await refuse(page, /\/retry$/, ['POST'])
  await page.getByRole('button', { name: 'Save and retry' }).click()
  await page.getByText('The change is saved; the message is not sent: the database is away').waitFor()
  expect(await page.getByText('Not done').count()).toBe(0)
  const [row] = await console_.sql`select record_key from dlq.dlq_messages where id = ${id}`
  expect(row!.record_key).toEqual(Buffer.from('order-4711'))
  await page.unroute(/\/retry$/)
  await page.route(/\/retry$/, (route) => route.fulfill({ json: { message: 'sent to browser-refusals' } }))
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Saved. Sent to browser-refusals.').waitFor()
})

test('a file that was chosen is kept where somebody else has changed the message', async () => {
  const id = await letter({ record_value: Buffer.from([0xff, 0xfe, 0x00, 0x80]) })
  const page = await console_.open(`/messages/${id}/edit`, { expected })
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose a file' }).click()
  const mended = Buffer.from([1, 2, 3])
  await (await chooser).setFiles({ name: 'mended.bin', mimeType: 'application/octet-stream', buffer: mended })
  await page.getByText('mended.bin, 3 B').waitFor()
  await changed(id, { max_retries: 9 })
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('mended.bin, 3 B').waitFor()
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Saved, and not sent.').waitFor()
  const [row] = await console_.sql`select record_value from dlq.dlq_messages where id = ${id}`
  expect(row!.record_value).toEqual(mended)
})

const policy = async (pattern: string, change?: object): Promise<object> => {
  const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(change) }
  const address = `${console_.fleet.open}/api/v1/policies/${pattern}`
  const answer = await fetch(address, change === undefined ? {} : put)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { policy: object }).policy
}

test('a policy that somebody else has changed, or made, meanwhile keeps what was typed above it', async () => {
  for (const pattern of ['browser-refusals.old', 'browser-refusals.new']) {
    if (pattern.endsWith('old')) await policy(pattern, { weight: 2 })
    const page = await console_.open(`/policies/${pattern}/edit`, { expected })
    const attempts = page.getByLabel('Attempts', { exact: true })
    await attempts.fill('7')
    await page.getByLabel('Reason').fill('the partner asked for it')
    await policy(pattern, { rate_per_second: 5 })
    await page.getByRole('button', { name: 'Save' }).click()
    const said = page.getByText('It has been changed meanwhile')
    await said.waitFor()
    expect(await policy(pattern)).not.toHaveProperty('max_retries')
    await page.getByRole('button', { name: 'Read what it is now' }).click()
    await said.waitFor({ state: 'hidden' })
    expect(await attempts.inputValue()).toBe('7')
    expect(await page.getByLabel('Messages a second').inputValue()).toBe('5')
    expect(await page.getByLabel('Reason').inputValue()).toBe('the partner asked for it')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: pattern, exact: true }).waitFor()
    expect(await policy(pattern)).toMatchObject({ max_retries: 7, rate_per_second: 5 })
  }
})

test('what an earlier action was refused for does not stand beside the answer of the next one', async () => {
  const page = await console_.open(`/messages/${await letter()}`, { expected })
  await refuse(page, /\/dead$/, ['POST'])
  await page.route(/\/retry$/, (route) => route.fulfill({ json: { message: 'sent to browser-refusals' } }))
  await page.getByRole('button', { name: 'Give up' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Give up' }).click()
  await page.getByText('Not done').waitFor()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('sent to browser-refusals').waitFor()
  expect(await page.getByText('Not done').count()).toBe(0)
})

test('messages of a group stay while they cannot be read again, and a value that could not be read can be asked for', async () => {
  const id = await letter({ error_class: 'com.example.AwayException' })
  const page = await console_.open(`/groups/${await groupOf(id)}`, { expected })
  await page.getByText('"amount": -5').waitFor()
  await refuse(page, /\/api\/v1\/messages\?/, ['GET'])
  await page.getByRole('button', { name: 'Show new' }).click()
  await page.getByText(/^The messages cannot be read, as of/).waitFor()
  expect(await page.getByText('"amount": -5').count()).toBe(1)
  await page.unroute(/\/api\/v1\/messages\?/)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText(/^The messages cannot be read/).waitFor({ state: 'hidden' })

  const other = await console_.open(`/messages/${id}`, { expected })
  await refuse(other, /\/value$/, ['GET'])
  await other.reload()
  await other.getByText('The value cannot be read').waitFor()
  await other.unroute(/\/value$/)
  await other.getByRole('button', { name: 'Try again' }).click()
  await other.getByText('"amount": -5').waitFor()
})

test('a change whose answer was lost is not said to be undone', async () => {
  const lose = async (page: Page, url: RegExp, isMeant: (asked: string) => boolean) => {
    let isLost = false
    await page.route(url, async (route) => {
      if (isLost || !isMeant(`${route.request().method()} ${route.request().postData()}`)) return route.fallback()
      isLost = true
      await route.fetch()
      await route.abort('connectionreset')
    })
  }
  const id = await letter({ error_class: 'com.example.LostException' })
  const page = await console_.open(`/messages/${id}/edit`, { expected })
  await page.getByRole('button', { name: 'Review' }).waitFor()
  await countSteps(page, 'keyboard').type('5')
  await page.keyboard.press('ControlOrMeta+Enter')
  await lose(page, /\/messages\/[^/]+$/, (asked) => asked.startsWith('PATCH'))
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('the API does not answer').waitFor()
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Its value is what you typed.').waitFor()

  const draft = await console_.open(`/runs/new?kind=dead&ids=${id}`, { expected })
  await lose(draft, /\/api\/v1\/runs$/, (asked) => !asked.includes('dry_run'))
  await draft.getByRole('button', { name: /^Give up 1/ }).click()
  await draft.waitForURL(/\/runs\/[0-9a-f-]{36}$/)
  expect(await console_.sql`select from dlq.dlq_runs where selection->>'ids' like ${`%${id}%`}`).toHaveLength(1)
})

test('a dialog keeps the focus and the keys until it is closed, and says that what was asked for may be done', async () => {
  await letter()
  const page = await console_.open('/system/cron/archive', { expected })
  const ask = page.getByRole('button', { name: 'Run now…' })
  const hasFocus = (name: string) => page.locator('button:focus', { hasText: name }).waitFor()
  await ask.press('Enter')
  const dialog = page.getByRole('dialog')
  const go = dialog.locator('button[type=submit]')
  const answer = Promise.withResolvers<void>()
  let asked = 0
  await page.route('**/cron/archive/run', async (route) => {
    asked += 1
    await answer.promise
    await route.abort('connectionreset')
  })
  await go.press('Enter')
  await dialog.getByText('Asking …').waitFor()
  await page.keyboard.press('p')
  answer.resolve()
  await dialog.getByText('It may have been done all the same').waitFor()
  expect(await page.getByText('Live updates are paused').count()).toBe(0)
  await hasFocus('Run it now')
  await page.keyboard.press('ControlOrMeta+Enter')
  await dialog.getByText('Asking …').waitFor({ state: 'hidden' })
  await eventually(async () => expect(asked).toBe(2))
  await page.keyboard.press('Escape')
  await hasFocus('Run now…')
  // One that follows another goes back to the same place.
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('pause orders 2h').fill('pause browser-refusals 2h')
  await page.getByRole('menuitem', { name: /^Pause retries of browser-refusals/ }).click()
  await dialog.getByText('Pause retries of browser-refusals?').waitFor()
  await page.keyboard.press('Escape')
  await hasFocus('Run now…')
  // What fails after the dialog was left is said all the same.
  const late = Promise.withResolvers<void>()
  await page.route('**/cron/archive/run', async (route) => {
    await late.promise
    await route.abort('connectionreset')
  })
  await ask.press('Enter')
  await go.press('Enter')
  await dialog.getByText('Asking …').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  late.resolve()
  await page.getByText('It may have been done all the same: the API does not answer').waitFor()
})
