// What a record holds, to the byte: seen as it is, changed by hand, and saved as exactly what was typed.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Download, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { countSteps } from '../src/browser/counted-steps.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'
import { orderBytes, orderSchema } from '../src/schemas/avro-orders.ts'

const console_ = useConsole()
const digits = '12345678901234567890.12'

const store = (value: Buffer | string | null, columns: Record<string, unknown> = {}) =>
  insertGroupedRow(console_, {
    original_topic: 'browser-exact',
    error_message: 'amount -5 is negative',
    record_key: Buffer.from('key-1'),
    record_value: value === null ? null : Buffer.from(value),
    record_headers: console_.sql.json([
      ['trace', 'a'],
      ['trace', null],
      ['kafka_dlt-original-offset', { base64: 'AAAAAAAAAAc=' }],
      ['raw', { base64: '//4=' }],
    ]),
    ...columns,
  })

type Stored = { value: Buffer | null; key: Buffer | null; headers: string; target: string | null }

const storedOf = async (id: string): Promise<Stored> => {
  const [row] = await console_.sql<[Stored]>`
    select record_value as value, record_key as key, record_headers::text as headers, target_topic as target
    from dlq.dlq_messages where id = ${id}`
  return row
}

const saveOnly = async (page: Page) => {
  await page.getByRole('button', { name: 'Review' }).click()
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Saved, and not sent.').waitFor()
}

/** The browser is another process, which has no folder in common with this one. */
const bytesOf = async (download: Download): Promise<Buffer> => {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-download-'))
  try {
    const path = join(folder, 'value')
    await download.saveAs(path)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('JSON', () => {
  const value = `{"total":${digits},"a":1,"a":2,"text":"\\u0000 \\u00e9 é","amount":-5}`

  test('is shown with every digit, duplicate and escape, and only what was typed is another byte', async () => {
    const id = await store(value)
    const page = await console_.open(`/messages/${id}`)
    const shown = page.locator('pre', { hasText: '"total"' })
    await shown.waitFor()
    expect((await shown.textContent())?.replace(/\n\s*/g, '').replaceAll('": ', '":')).toBe(value)

    await page.goto(`${page.url()}/edit`)
    await page.getByRole('button', { name: 'Review' }).waitFor()
    await countSteps(page, 'keyboard').type('98765432109876543210.00')
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByText('Difference').or(page.getByText('What will be stored')).first().waitFor()
    await page.getByRole('button', { name: 'Save only' }).click()
    await page.getByText('Saved, and not sent.').waitFor()
    expect((await storedOf(id)).value?.toString()).toBe(value.replace('-5', '98765432109876543210.00'))
    await page.getByRole('button', { name: 'Take it back…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Take it back' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect((await storedOf(id)).value?.toString()).toBe(value)
  })
})

test('what is no JSON any more is marked at its place while it is typed, and can be saved all the same', async () => {
  const id = await store('{"amount":-5}')
  const page = await console_.open(`/messages/${id}/edit`)
  await page.getByRole('button', { name: 'Review' }).waitFor()
  const steps = countSteps(page, 'keyboard')
  await steps.type('5 5')
  await page.getByText('It was JSON, and this is none: line 2, column 15: a comma is missing.').waitFor()
  await page.locator('[data-fault]').waitFor()
  expect(await page.getByRole('textbox', { name: 'Value' }).getAttribute('aria-invalid')).toBe('true')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.locator('[data-fault]').waitFor({ state: 'detached' })
  await saveOnly(page)
  expect((await storedOf(id)).value?.toString()).toBe('{"amount":5}')
})

describe('a value in Avro', () => {
  const avro = (value: Buffer) =>
    store(value, { original_topic: 'browser-avro', error_message: 'cents 42 are too few' })
  const shown = (page: Page) => page.getByText('Decoded from Avro · com.example.Order · main, id 5')

  beforeAll(async () => {
    await console_.sql`
      insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, name, definition)
      values ('main', 'id', '5', 'known', 'avro', 'com.example.Order', ${orderSchema})`
  })

  test('is changed as JSON and written with its schema; what its schema refuses is said', async () => {
    const id = await avro(orderBytes(5, 'order-1', 42))
    const page = await console_.open(`/messages/${id}/edit`)
    await shown(page).waitFor()
    const steps = countSteps(page, 'keyboard')
    await steps.type('"many"')
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByText('replace /cents with "many"').waitFor()
    await page.getByRole('button', { name: 'Save only' }).click()
    await page.getByText('/cents must be').first().waitFor()
    await page.getByRole('button', { name: 'Back to the change' }).click()
    await page.getByRole('textbox', { name: 'Value' }).fill('{"id":"order-1","cents":43,"note":null}')
    await saveOnly(page)
    expect((await storedOf(id)).value).toEqual(orderBytes(5, 'order-1', 43))
    await page.getByText('replace /cents with 43').first().waitFor()
  })

  test('that its writer encoded otherwise is written anew only when that is agreed to', async () => {
    const bytes = orderBytes(5, 'order-1', 42)
    // The length of the id in two bytes, where one would do.
    const long = Buffer.concat([bytes.subarray(0, 5), Buffer.from([0x8e, 0x00]), bytes.subarray(6)])
    const id = await avro(long)
    const page = await console_.open(`/messages/${id}/edit`)
    await shown(page).waitFor()
    await countSteps(page, 'keyboard').type('43')
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByRole('button', { name: 'Save only' }).click()
    await page.getByText('cannot be written so that only the change differs').waitFor()
    expect((await storedOf(id)).value).toEqual(long)
    await page.getByRole('button', { name: 'Write it anew, and save' }).click()
    await page.getByText('Saved, and not sent.').waitFor()
    expect((await storedOf(id)).value).toEqual(orderBytes(5, 'order-1', 43))
  })

  test('whose schema is not known can be replaced by a file, and says why it is not decoded', async () => {
    await console_.sql`
      insert into dlq.dlq_schemas (registry, id_kind, schema_id, state) values ('main', 'id', '6', 'missing')`
    const page = await console_.open(`/messages/${await avro(orderBytes(6, 'order-1', 42))}/edit`)
    // Which reason it is depends on whether a retrier has asked the registry since.
    await page.getByText(/Waits for its schema: the registry/).waitFor()
    await page.getByRole('button', { name: 'Choose a file' }).waitFor()
  })
})

test('key, headers and target topic change alone, and the bytes beside them stay', async () => {
  const id = await store('{"amount":-5}')
  const page = await console_.open(`/messages/${id}/edit`)
  await page.getByRole('tab', { name: 'Key' }).click()
  await page.getByRole('textbox', { name: 'Key', exact: true }).fill('key-2 é')
  await page.getByRole('tab', { name: /^Headers/ }).click()
  await page.getByRole('button', { name: 'Remove trace' }).first().click()
  await page.getByRole('button', { name: 'Move raw up' }).click()
  await page.getByRole('button', { name: 'Add a header' }).click()
  await page.getByRole('textbox', { name: 'Name of header 4' }).fill('ticket')
  await page.getByRole('textbox', { name: 'Value of ticket' }).fill('OPS-4711')
  await page.getByRole('tab', { name: 'Target topic' }).click()
  await page.getByRole('textbox', { name: 'Topic' }).fill('browser-exact.v2')
  await saveOnly(page)
  expect(await storedOf(id)).toEqual({
    value: Buffer.from('{"amount":-5}'),
    key: Buffer.from('key-2 é'),
    headers:
      '[["trace",null],["raw",{"base64":"//4="}],["kafka_dlt-original-offset",{"base64":"AAAAAAAAAAc="}],["ticket","OPS-4711"]]',
    target: 'browser-exact.v2',
  })
})

test('a tombstone is said to be one, and can be given a value', async () => {
  const id = await store(null)
  const page = await console_.open(`/messages/${id}`)
  await page.getByText('Tombstone: the record has a key and no value.').waitFor()
  await page.goto(`${page.url()}/edit`)
  await page.getByText('The record has no value.').waitFor()
  await countSteps(page, 'keyboard').type(`{"n": ${digits}}`)
  await saveOnly(page)
  expect((await storedOf(id)).value?.toString()).toBe(`{"n": ${digits}}`)
})

describe('bytes', () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a, 0xc3, 0x28])
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, 42]), Buffer.from([0x02, 0x08, 0x61])])

  test('that are no text are shown as bytes, and replaced by a file', async () => {
    const id = await store(bytes)
    const page = await console_.open(`/messages/${id}`)
    await page.getByText('ff fe 00 80 0a c3 28').waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    expect(await bytesOf(await download)).toEqual(bytes)

    await page.goto(`${page.url()}/edit`)
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a file' }).click()
    const replaced = Buffer.from([0x00, 0xff, 0x0d, 0x0a, 0x80])
    await (await chooser).setFiles({ name: 'fixed.bin', mimeType: 'application/octet-stream', buffer: replaced })
    await page.getByText('fixed.bin, 5 B').waitFor()
    await saveOnly(page)
    expect((await storedOf(id)).value).toEqual(replaced)
  })

  test('with the framing of Confluent say which schema they have', async () => {
    const page = await console_.open(`/messages/${await store(framed)}`)
    await page.getByText('Confluent framing, schema id 42').waitFor()
    await page.getByText('00 00 00 00 2a 02 08 61').waitFor()
  })
})

test('four megabytes on one line are shown at their beginning, downloaded whole, and replaced to the byte', async () => {
  const value = `{"total":${digits},"filler":"${'x'.repeat(4_000_000)}","amount":-5}`
  const id = await store(value)
  const page = await console_.open(`/messages/${id}`)
  await page.getByText(`"total": ${digits}`).waitFor()
  await page.getByText(/The first 262,144 of 4,000,\d+ characters/).waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download' }).click()
  expect((await bytesOf(await download)).equals(Buffer.from(value))).toBe(true)

  await page.goto(`${page.url()}/edit`)
  const changed = Buffer.from(value.replace('-5', '5'))
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose a file' }).click()
  await (await chooser).setFiles({ name: 'value.json', mimeType: 'application/json', buffer: changed })
  await saveOnly(page)
  await eventually(async () => expect((await storedOf(id)).value?.equals(changed)).toBe(true))
})
