// Errors of kinds that few have seen: a recursion without end, characters that turn the text around, a value that comes
// slowly; and the dialogs that stand between them and what is done.

import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'

const console_ = useConsole()

const letter = (columns: Record<string, unknown> = {}) =>
  insertGroupedRow(console_, {
    ...{ original_topic: 'browser-strange', error_class: 'com.example.StrangeException' },
    ...{ error_message: 'amount -5 is negative', record_value: Buffer.from('{"amount":-5}') },
    ...{ record_headers: console_.sql.json([]), ...columns },
  })

describe('a recursion without end', () => {
  const overflow = (name: string, depth: number) => ({
    original_topic: 'browser-recursion',
    error_class: 'java.lang.StackOverflowError',
    error_message: 'too deep',
    error_stacktrace: [
      'java.lang.StackOverflowError: too deep',
      ...Array.from({ length: depth }, (_, at) => `\tat com.acme.${name}.f(${name}.java:${10 + (at % 2)})`),
    ].join('\n'),
  })
  const frames = (page: Page) => page.getByRole('region', { name: 'Stack trace' }).locator('li code')

  test('shows the frames of the message that is open, also after others with the same title', async () => {
    await letter(overflow('Alpha', 6))
    await letter(overflow('Beta', 4))
    const page = await console_.open('/messages?topic=browser-recursion')
    await page.getByRole('link', { name: 'too deep' }).first().click()
    const shows = async (name: string, count: number) => {
      await page.getByText(`com.acme.${name}.f`).first().waitFor()
      expect((await frames(page).allTextContents()).map((text) => /acme\.(\w+)/.exec(text)?.[1])).toEqual(
        Array.from({ length: count }, () => name),
      )
    }
    await shows('Beta', 4)
    for (const [key, name, count] of [
      [']', 'Alpha', 6],
      ['[', 'Beta', 4],
      [']', 'Alpha', 6],
    ] as const) {
      await page.keyboard.press(key)
      await shows(name, count)
    }
  })

  test('leaves the value in sight, and is whole on demand', async () => {
    const page = await console_.open(`/messages/${await letter(overflow('Gamma', 1024))}`)
    const value = page.getByRole('tab', { name: 'Value' })
    await value.waitFor()
    expect((await value.boundingBox())!.y).toBeLessThan(1200)
    await page.getByText('and 1,000 frames more').waitFor()
    await page.getByRole('button', { name: 'Show all 1,024 frames' }).click()
    await eventually(async () => expect(await frames(page).count()).toBe(1024))
  })
})

test('a character that turns the text around is named wherever the error or the reason of a pause stands', async () => {
  const turned = 'Refused \u202e(evil)\u202c by the bank'
  const named = 'Refused U+202E(evil)U+202C by the bank'
  const id = await letter({
    ...{ error_class: 'Evil\u202eException', error_message: turned, record_key: Buffer.from('k\u202ey') },
    error_stacktrace: `Evil\u202eException: ${turned}\n\tat com.acme.Bank\u202e.pay(Bank.java:1)`,
    record_headers: console_.sql.json([['who\u202e', 'me\u202e']]),
  })
  const steering = /[\u202a-\u202e]/
  const page = await console_.open(`/messages/${id}?tab=headers`)
  await page.getByText('whoU+202E').waitFor()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(named)
  await eventually(async () => expect(await page.title()).toContain('EvilU+202EException'))
  const changed = await page.request.post('/api/v1/topics/browser-strange/pause', {
    data: { what: 'retries', until: null, reason: turned },
  })
  expect(changed.status()).toBe(200)
  const [{ group_id }] = await console_.sql<[{ group_id: string }]>`
    select group_id from dlq.dlq_messages where id = ${id}`
  for (const [path, words] of [
    [`/messages/${id}?tab=headers`, 'whoU+202E'],
    [`/messages/${id}?tab=json`, 'EvilU+202EException'],
    ['/messages?topic=browser-strange', named],
    [`/groups/${group_id}`, named],
    ['/groups?q=Evil', 'EvilU+202EException'],
    ['/topics/browser-strange', `(${named})`],
    ['/audit?topic=browser-strange', named],
  ] as const) {
    await page.goto(`${console_.fleet.open}/console${path}`)
    await page.getByText(words).first().waitFor()
    expect(await page.locator('body').textContent(), path).not.toMatch(steering)
    expect(await page.title(), path).not.toMatch(steering)
  }
  await page.request.post('/api/v1/topics/browser-strange/resume', { data: { what: 'retries' } })
})

test('an error without a place in the code is told once in lists, in two lines at most', async () => {
  const error_message = `refused at the door ${'because nobody knows '.repeat(20).trim()}`
  await letter({ original_topic: 'browser-wordy', error_class: 'com.example.WordyException', error_message })
  const page = await console_.open('/groups?q=WordyException', { screen: 'phone' })
  const row = page.getByRole('link', { name: /WordyException/ }).first()
  await row.waitFor()
  expect((await row.boundingBox())!.height).toBeLessThan(120)
  expect((await row.textContent())!.match(/refused at the door/g)).toHaveLength(1)
})

test('a value that comes slowly is said to be on its way', async () => {
  const id = await letter({ record_value: Buffer.from(`{"filler":"${'x'.repeat(2048)}"}`) })
  const page = await console_.open('/settings')
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route('**/value', async (route) => {
    await late
    await route.continue()
  })
  await page.goto(`${console_.fleet.open}/console/messages/${id}`)
  await page.getByText('The value of 2.0 KiB is being read').waitFor()
  come()
  await page.getByText('"filler": "').waitFor()
  expect(await page.getByText('is being read').count()).toBe(0)
})

describe('a dialog that asks for a reason', () => {
  test('is answered by Ctrl and Enter, keeps its field off its buttons, and has the keys for itself', async () => {
    const id = await letter()
    const page = await console_.open(`/messages/${id}`)
    await page.getByRole('button', { name: 'Give up' }).click()
    const field = page.getByLabel('Reason (not needed)')
    await field.fill('r1')
    const [above, below] = [
      await field.boundingBox(),
      await page.getByRole('button', { name: 'Leave it' }).boundingBox(),
    ]
    expect(below!.y - (above!.y + above!.height)).toBeGreaterThanOrEqual(8)
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByText('gave up the message (r1)').waitFor()
    expect(await page.getByText('message.dead').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
  })
})

test('the editor shows on all of its sides that it has the focus', async () => {
  const page = await console_.open(`/messages/${await letter()}/edit`)
  await page.getByRole('button', { name: 'Review' }).waitFor()
  const editor = page.locator('[data-editor]').first()
  const sides = async () => {
    const { x, y, width, height } = (await editor.boundingBox())!
    const strip = async (left: number) =>
      (await page.screenshot({ clip: { x: left, y: Math.round(y + height / 2), width: 2, height: 4 } })).toString('hex')
    return [await strip(Math.round(x) - 2), await strip(Math.round(x + width))] as const
  }
  await eventually(async () => {
    await page.getByRole('textbox', { name: 'Value' }).focus()
    const [left, right] = await sides()
    await page.getByRole('heading', { level: 1 }).focus()
    const [leftBefore, rightBefore] = await sides()
    expect(left).toBe(right)
    expect(leftBefore).toBe(rightBefore)
    expect(left).not.toBe(leftBefore)
  })
})
