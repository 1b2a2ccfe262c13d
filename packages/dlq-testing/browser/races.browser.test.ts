// What happens to somebody at the console when something else happens first.

import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import {
  type ConsoleTopics,
  createConsoleTopics,
  failAgain,
  failureNamed,
  sendLetters,
} from '../src/browser/console-topics.ts'
import { countSteps } from '../src/browser/counted-steps.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'
import { readTopic } from '../src/kafka/read-topic.ts'
import { useTopics } from '../src/kafka/test-topics.ts'
import { insertMessageRow } from '../src/rows/message-rows.ts'

const console_ = useConsole()
const topics = useTopics()
const error = failureNamed('RaceFailure', 'amount -5 is negative')
const letters = (count: number) => Array.from({ length: count }, (_, n) => ({ value: `{"n":${n},"amount":-5}`, error }))

let sending: ConsoleTopics
beforeAll(async () => {
  sending = await createConsoleTopics(topics, 'races')
})

const api = (path: string, init?: RequestInit) => fetch(`${console_.fleet.open}/api/v1${path}`, init)
const asJson = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** Another person's change of the value. */
const changeValue = async (id: string, text: string) => {
  const etag = (await api(`/dlq/messages/${id}`)).headers.get('etag')!
  const answer = await api(`/dlq/messages/${id}`, {
    ...asJson({ value: { text }, reason: 'the other fix' }, { 'if-match': etag }),
    method: 'PATCH',
  })
  expect(answer.status).toBe(200)
}

const storedValue = async (id: string) => {
  const [row] =
    await console_.sql`select convert_from(record_value, 'UTF8') as value from dlq.dlq_messages where id = ${id}`
  return row?.value as string
}

const rejected = (columns: Record<string, unknown> = {}) => ({
  original_topic: 'browser-races',
  error_message: 'amount -5 is negative',
  record_value: Buffer.from('{"amount":-5}'),
  record_headers: console_.sql.json([]),
  ...columns,
})

test('somebody else’s change while one edits is shown beside one’s own, and either can be kept', async () => {
  for (const keep of ['mine', 'theirs']) {
    const id = await insertGroupedRow(console_, rejected())
    const page = await console_.open(`/messages/${id}/edit`)
    await page.getByRole('button', { name: 'Review' }).waitFor()
    await countSteps(page, 'keyboard').type('5')
    await changeValue(id, '{"amount":-7}')
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByRole('button', { name: 'Save only' }).click()
    await page.getByText('It has changed since you opened it').waitFor()
    await page.getByText('the other fix').waitFor()
    expect(await storedValue(id)).toBe('{"amount":-7}')
    if (keep === 'mine') {
      await page.getByRole('button', { name: 'Keep mine' }).click()
      await page.getByText('This is what you typed before').waitFor()
      await page.getByRole('button', { name: 'Review' }).click()
      await page.getByRole('button', { name: 'Save only' }).click()
      await page.getByText('Saved, and not sent.').waitFor()
      expect(await page.getByText('This is what you typed before').count()).toBe(0)
      expect(await storedValue(id)).toBe('{"amount":5}')
    } else {
      await page.getByRole('button', { name: 'Take theirs' }).click()
      await page.getByText('Nothing is changed yet.').waitFor()
      await page.getByText('-7').waitFor()
    }
  }
})

test('what was typed before a reload is offered beside somebody else’s change, also after a second reload', async () => {
  const id = await insertGroupedRow(console_, rejected())
  const page = await console_.open(`/messages/${id}/edit`)
  await page.getByRole('button', { name: 'Review' }).waitFor()
  await page.keyboard.type('5')
  await page.getByText('Nothing is changed yet.').waitFor({ state: 'hidden' })
  await changeValue(id, '{"amount":-7}')
  page.on('dialog', (dialog) => void dialog.accept())
  for (let reload = 0; reload < 2; reload++) {
    await page.reload()
    await page.getByText('It has changed since you opened it').waitFor()
    await page.getByText('the other fix').waitFor()
  }
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByText('It has changed since you opened it').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Saved, and not sent.').waitFor()
  expect(await storedValue(id)).toBe('{"amount":5}')
})

test('a run whose count has changed since the draft is refused with both numbers, and started with the new one', async () => {
  const failed = await createConsoleTopics(topics, 'recount')
  const [first] = await sendLetters(topics, console_, failed, letters(4))
  const [{ group_id }] = await console_.sql<[{ group_id: string }]>`
    select group_id from dlq.dlq_messages where id = ${first!}`
  const page = await console_.open(`/runs/new?kind=retry&group_id=${group_id}&topic=${failed.dlq}`)
  await page.getByRole('button', { name: /^Retry 4 messages/ }).waitFor()
  await sendLetters(topics, console_, failed, letters(3))
  await page.getByRole('button', { name: /^Retry 4 messages/ }).click()
  const fault = page.getByRole('alert')
  await fault.waitFor()
  expect(await fault.textContent()).toMatch(/7[\s\S]*4|4[\s\S]*7/)
  await page.getByRole('button', { name: /^Retry 7 messages/ }).click()
  await page.getByText('7 sent.').waitFor()
})

test('whoever leaves a draft before its run has begun stays where they went', async () => {
  const original_topic = 'browser-left-draft'
  const id = await insertGroupedRow(console_, rejected({ original_topic }))
  const page = await console_.open(`/runs/new?kind=dead&ids=${id}`)
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route('**/api/v1/runs', async (route) => {
    if (!route.request().postData()?.includes('dry_run')) await late
    await route.continue()
  })
  await page.getByRole('button', { name: 'Give up 1 message' }).click()
  await page.getByRole('button', { name: 'Starting …' }).waitFor()
  await page.getByRole('link', { name: 'Topics' }).click()
  await page.getByRole('heading', { name: 'Topics' }).waitFor()
  come()
  await eventually(async () => {
    const [row] = await console_.sql`select status from dlq.dlq_messages where id = ${id}`
    expect(row!.status).toBe('DEAD')
  })
  expect(new URL(page.url()).pathname).toBe('/console/topics')
})

test('the reason of a draft stays over a reload, is in its link, and is not of the next draft', async () => {
  await insertGroupedRow(console_, rejected({ original_topic: 'browser-no-reason' }))
  const id = await insertGroupedRow(console_, rejected({ original_topic: 'browser-reason' }))
  const page = await console_.open(`/runs/new?kind=retry&topic=browser-reason#ids=${id}`)
  const field = page.getByLabel('Reason (not needed)')
  await field.fill('PAY-1: 100 % mended & tried')
  await page.waitForURL(/reason=PAY-1/)
  await page.reload()
  await eventually(async () => expect(await field.inputValue()).toBe('PAY-1: 100 % mended & tried'))
  expect(page.url()).toContain(id)
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('pause orders 2h').fill('retry browser-no-reason')
  await page.getByRole('menuitem', { name: 'Retry all of browser-no-reason' }).click()
  await page.waitForURL(/topic=browser-no-reason/)
  await eventually(async () => expect(await field.inputValue()).toBe(''))
})

test('one message is sent to another topic, which is typed in the draft', async () => {
  const id = await insertGroupedRow(console_, rejected({ original_topic: 'browser-redirect' }))
  const page = await console_.open(`/messages/${id}`)
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Send to another topic' }).click()
  await page.getByLabel('Target topic').fill('browser-redirect.v2')
  await page.getByRole('button', { name: 'Redirect 1 message to browser-redirect.v2' }).waitFor()
  expect(new URL(page.url()).searchParams.get('target_topic')).toBe('browser-redirect.v2')
})

test('what a policy holds, because something newer of its key was sent, is sent too where the draft says so', async () => {
  const at = (offset: number, columns: Record<string, unknown> = {}) =>
    insertMessageRow(
      console_.sql,
      rejected({
        ...{ original_topic: 'browser-stale', record_key: Buffer.from('order-1') },
        ...{ original_partition: 0, original_offset: offset, ...columns },
      }),
    )
  await at(1)
  await at(2, { status: 'RESOLVED' })
  await console_.sql`insert into dlq.dlq_policies (pattern, staleness) values ('browser-stale', 'hold')`
  const page = await console_.open('/runs/new?kind=retry&status=PENDING&topic=browser-stale')
  await page.getByText('The policy holds messages').waitFor()
  await page.getByRole('button', { name: 'Send the older ones too' }).click()
  await page.getByText('is sent too').waitFor()
  expect(await page.getByText('The policy holds messages').count()).toBe(0)
  expect(new URL(page.url()).searchParams.get('staleness')).toBe('send')
})

/** The run's line in the bar of active runs: tests of other files have runs there, too. */
function lineOf(page: Page, id: string) {
  const title = page.locator(`a[href$="/runs/${id}"]`)
  return page.getByRole('complementary', { name: 'Active runs' }).locator('div', { has: title })
}

test('a run that its canary pauses says why, shows what came back, and waits for an answer', async () => {
  const ids = await sendLetters(topics, console_, sending, letters(5))
  const answer = await api(
    '/runs',
    asJson({
      ...{ kind: 'retry', selection: { ids }, on_refailure: 'pause' },
      // biome-ignore lint/suspicious/noThenProperty: the name that the API gives it; nobody awaits it
      canary: { first: 1, then: '20%', wait: '10m', max_refailure: '5%' },
    }),
  )
  const { id } = (await answer.json()) as { id: string }
  const page = await console_.open(`/runs/${id}`)
  const bar = lineOf(page, id)
  await bar.getByRole('button', { name: 'Pause' }).waitFor()
  // From now on only the page of the run hears of it.
  await page.route('**/api/v1/runs?*', (route) => route.abort())
  const countSent = () =>
    console_.sql`select from dlq.dlq_messages where id = any(${ids}::uuid[]) and status = 'RESOLVED'`
  await eventually(async () => expect(await countSent()).toHaveLength(1))
  const groupId = topics.groupName('browser-canary')
  const [sent] = await readTopic(topics.kafka, { topic: sending.original, groupId })
  await failAgain(topics, sending, sent!, error)
  await page.getByText(/canary: 1 of 1 retries failed again/).waitFor()
  await bar.getByRole('button', { name: 'Resume' }).waitFor()
  await page.unroute('**/api/v1/runs?*')
  await page.getByRole('link', { name: 'Look at what came back' }).click()
  await page.getByRole('region', { name: 'Its messages' }).getByText('amount -5 is negative').first().waitFor()
  await page.getByRole('button', { name: 'Resume all the same' }).waitFor()
  await page.getByRole('button', { name: 'Cancel…' }).click()
  await page.getByRole('button', { name: 'Cancel the run' }).click()
  await page.getByText(/^Cancelled: /).waitFor()
})

test('a pause that came second is no fault: the run stands as it was wanted', async () => {
  const ids = await sendLetters(topics, console_, sending, letters(2))
  // biome-ignore lint/suspicious/noThenProperty: the name that the API gives it; nobody awaits it
  const canary = { first: 1, then: '20%', wait: '10m', max_refailure: '5%' }
  const answer = await api('/runs', asJson({ kind: 'retry', selection: { ids }, canary }))
  const { id } = (await answer.json()) as { id: string }
  const page = await console_.open('/settings')
  const bar = lineOf(page, id)
  await bar.getByRole('button', { name: 'Pause' }).waitFor()
  await page.route('**/api/v1/runs?*', (route) => route.abort())
  await eventually(async () => expect((await api(`/runs/${id}/pause`, asJson({}))).status).toBe(200))
  const refused = page.waitForResponse((response) => response.url().endsWith('/pause') && response.status() === 409)
  await page.unroute('**/api/v1/runs?*')
  await bar.getByRole('button', { name: 'Pause' }).click()
  await refused
  await bar.getByRole('button', { name: 'Resume' }).waitFor()
  expect(await bar.getByRole('alert').count()).toBe(0)
  await api(`/runs/${id}/cancel`, asJson({}))
})

test('a session that ends in the middle asks for signing in over the page, and what was typed is still there', async () => {
  const id = await insertGroupedRow(console_, rejected({ original_topic: 'browser.mine.races' }))
  const page = await console_.open(`/messages/${id}/edit`, { as: 'operator' })
  await page.getByRole('button', { name: 'Review' }).waitFor()
  await countSteps(page, 'keyboard').type('5')
  await page.keyboard.press('ControlOrMeta+Enter')
  await page.getByRole('button', { name: 'Save only' }).waitFor()
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await storedValue(id)).toBe('{"amount":-5}')
  await page.getByLabel('Token').fill(console_.fleet.tokens.operator)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Token').waitFor({ state: 'hidden' })
  // What was refused is not repeated by itself.
  expect(await storedValue(id)).toBe('{"amount":-5}')
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Saved, and not sent.').waitFor()
  expect(await storedValue(id)).toBe('{"amount":5}')
})

test('rows that are selected stay selected while the list grows, and no other is', async () => {
  const original_topic = 'browser-growing'
  const row = (n: number) => insertMessageRow(console_.sql, rejected({ original_topic, error_message: `row ${n}` }))
  const ids = []
  for (let n = 0; n < 4; n += 1) ids.push(await row(n))
  const page = await console_.open('/settings')
  // What stands above the list comes late, and moves nothing that somebody is about to press.
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route('**/api/v1/activity?*', async (route) => {
    await late
    await route.continue()
  })
  await page.goto(`${console_.fleet.open}/console/messages?topic=${original_topic}`)
  await page.getByText('row 3').waitFor()
  await page.getByText('Narrow down').waitFor()
  const box = (name: string) => page.getByRole('checkbox', { name })
  const before = await box('Select row 2').boundingBox()
  come()
  await page.getByText('As numbers').waitFor()
  expect(await box('Select row 2').boundingBox()).toEqual(before)
  for (const name of ['Select row 2', 'Select row 1']) await box(name).click({ force: true })
  await page.getByText('2 messages selected').waitFor()
  for (let n = 4; n < 7; n += 1) await row(n)
  await page.getByRole('heading', { level: 1 }).focus()
  await page.keyboard.press('.')
  await page.getByText('row 6').waitFor()
  await page.getByText('2 messages selected').waitFor()
  await page.getByRole('link', { name: 'Retry…' }).click()
  await page.getByRole('button', { name: /^Retry 2 messages/ }).waitFor()
  const chosen = new URLSearchParams(new URL(page.url()).hash.slice(1)).get('ids')
  expect(chosen?.split(',').toSorted()).toEqual([ids[1], ids[2]].toSorted())
})

test('what comes back after a run has ended is in its list, too', async () => {
  const ended = await createConsoleTopics(topics, 'ended')
  const ids = await sendLetters(topics, console_, ended, letters(2))
  const started = await api('/runs', asJson({ kind: 'retry', selection: { ids } }))
  const { id } = (await started.json()) as { id: string }
  const page = await console_.open(`/runs/${id}`)
  await page.getByText(/^2 sent\./).waitFor()
  await page.getByText('None came back.').waitFor()
  const [sent] = await readTopic(topics.kafka, { topic: ended.original, groupId: topics.groupName('browser-ended') })
  await failAgain(topics, ended, sent!, error)
  await page
    .getByText(/\b1 came back/)
    .first()
    .waitFor()
  await page.locator('#items a[href*="/messages/"]').waitFor()
})
