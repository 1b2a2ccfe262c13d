// Messages of which masks hide something, and messages beside the record that failed: nothing is taken for what it is not.

import { beforeAll, expect, test } from 'vitest'
import { createConsoleTopics, sendLetters } from '../src/browser/console-topics.ts'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'
import { useTopics } from '../src/kafka/test-topics.ts'

const console_ = useConsole()
const topics = useTopics()
const email = 'anna@example.com'
const number = '4929 1234 5678 9012'
const digits = '12345678901234567890.12'

let masked: string
beforeAll(async () => {
  masked = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser.masked.orders', error_message: `no account of ${email}` },
    record_key: Buffer.from(`customer ${email}`),
    record_value: Buffer.from(
      `{"amount":${digits},"customer":{"email":"${email}","name":"Anna"},"cards":[{"number":"${number}"}]}`,
    ),
    record_headers: console_.sql.json([
      ['x-user', email],
      ['trace', 'shown'],
    ]),
  })
})

const readsOf = (actor: string) =>
  console_.sql<{ action: string; reason: string | null }[]>`
    select action, reason from dlq.dlq_reads where actor = ${actor} and ${masked} = any (ids) order by at`

test('what a mask hides is said to be hidden, and the rest is shown with every digit', async () => {
  const page = await console_.open(`/messages/${masked}`, { as: 'auditor' })
  await page.getByText(/^Masks hide from you: 2 places of the value, .*the key/).waitFor()
  await page.getByText('Hidden from you by a mask: /customer/email and /cards/*/number.').waitFor()
  await page.getByText(`"amount": ${digits}`).waitFor()
  await page.getByText('"name": "Anna"').waitFor()
  const button = page.getByRole('button', { name: 'Show what is hidden…', disabled: true })
  await button.focus()
  await page.getByText('needs a token with payloads: full; yours has masked').waitFor()
  await expectAccessible(page)
  await page.getByRole('tab', { name: 'Key' }).click()
  await page.getByText('The key is hidden from you by a mask.').waitFor()
  await page.getByRole('tab', { name: 'Headers' }).click()
  await page.getByText('what ••• stands for').waitFor()
  await page.getByText('shown', { exact: true }).waitFor()
  expect(await page.content()).not.toContain('example.com')
  await page.goto(page.url().replace(/\?.*|$/, '/edit'))
  await page.getByText('What is hidden from you cannot be changed here').waitFor()
  expect(await page.content()).not.toContain('example.com')
})

test('who may see behind masks says why, and sees it, and the read is recorded', async () => {
  const page = await console_.open(`/messages/${masked}`, { as: 'unmasker' })
  await page.getByRole('button', { name: 'Show what is hidden…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Show it' }).click()
  await page.getByText('Say why').waitFor()
  expect(await readsOf('unmasker')).toEqual([])
  await page.getByLabel('Reason').fill('ticket 7')
  await expectAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Show it' }).click()
  await page.getByRole('heading', { name: `no account of ${email}` }).waitFor()
  await page.getByText(`"email": "${email}"`).waitFor()
  await page.getByText(`"amount": ${digits}`).waitFor()
  // Each answer with contents is a read, and looking at it for longer is none.
  const reads = await readsOf('unmasker')
  expect(new Set(reads.map(({ reason }) => reason))).toEqual(new Set(['ticket 7']))
  expect(reads.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['GET /api/v1/dlq/messages/:id', 'GET /api/v1/dlq/messages/:id/value']),
  )
  const polled = page.waitForResponse((answer) => answer.url().endsWith(`/messages/${masked}`))
  await polled
  expect(await readsOf('unmasker')).toHaveLength(reads.length)
  await page.getByRole('button', { name: 'Hide it again' }).click()
  await page.getByText(/^Masks hide from you/).waitFor()
  expect(await page.content()).not.toContain('example.com')
})

test('what is too large for the editor is downloaded as it was asked to be shown', async () => {
  const value = JSON.stringify({ customer: { email }, rows: 'x'.repeat(1_100_000) })
  const id = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser.masked.orders', error_message: 'too large' },
    ...{ record_value: Buffer.from(value), record_headers: console_.sql.json([]) },
  })
  const page = await console_.open(`/messages/${id}/edit`, { as: 'unmasker' })
  await page.getByRole('button', { name: 'Show what is hidden…' }).click()
  await page.getByLabel('Reason').fill('ticket 8')
  await page.getByRole('dialog').getByRole('button', { name: 'Show it' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download' }).click()
  const bytes = Buffer.concat(await Array.fromAsync(await (await download).createReadStream()))
  expect(bytes.toString()).toBe(value)
})

test('a copy is compared with the record that failed, and gives way to it', async () => {
  const created = await createConsoleTopics(topics, 'origin')
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const at = Date.now() - 60_000
  const message = { key: 'key-0', value: '{"amount":10.50,"note":"original"}', timestamp: String(at) }
  await producer.send({ topic: created.original, messages: [message] })
  await producer.disconnect()
  const [id] = await sendLetters(topics, console_, created, [
    { value: '{"amount":10.5}', key: 'key-0', original: { offset: 0n, at } },
  ])
  const page = await console_.open(`/messages/${id}`)
  await page.getByText('Nobody has compared it with the original.').waitFor()
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByText('The copy differs from the record that failed in its value.').waitFor()
  await page.getByText('add /note: "original"').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Adopt it…' }).click()
  await page.getByLabel(/^Reason/).fill('the serialiser lost the note')
  await page.getByRole('button', { name: 'Adopt it', exact: true }).click()
  await page.getByText('It has taken the place of the copy').waitFor()
  await page.getByText('"note": "original"').waitFor()
  await eventually(async () => {
    const [row] = await console_.sql`
      select convert_from(record_value, 'UTF8') as value from dlq.dlq_messages where id = ${id!}`
    expect(row).toEqual({ value: message.value })
  })
})

test('newer dead letters of the key are named, with what a retry would do', async () => {
  const created = await createConsoleTopics(topics, 'newer')
  const ids = await sendLetters(topics, console_, created, [
    { value: '{"n":1}', key: 'one' },
    { value: '{"n":2}', key: 'one' },
  ])
  const page = await console_.open(`/messages/${ids[0]}`)
  const newer = page.getByRole('region', { name: 'Newer ones of its key' })
  await newer.getByRole('link', { name: /^offset 1000000001/ }).click()
  await page.waitForURL(new RegExp(ids[1]!))
  await page.getByText('"n": 2').waitFor()
  expect(await page.getByRole('region', { name: 'Newer ones of its key' }).count()).toBe(0)
})
