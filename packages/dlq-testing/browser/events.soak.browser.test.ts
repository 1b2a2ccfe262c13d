// What happened in the fleet, and who hears of it: events, channels, routes and deliveries.

import { beforeAll, expect, test } from 'vitest'
import { type ConsoleTopics, createConsoleTopics, failureNamed, sendLetters } from '../src/browser/console-topics.ts'
import { expectAccessibleInEachLook } from '../src/browser/expect-accessible.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { useTopics } from '../src/kafka/test-topics.ts'

const console_ = useConsole()
const topics = useTopics()

let failed: ConsoleTopics

beforeAll(async () => {
  failed = await createConsoleTopics(topics, 'events')
  await sendLetters(topics, console_, failed, [{ value: '{}', error: failureNamed('EventsFailure', 'no') }])
})

test('a new error group is an event that leads to it, and the list can be narrowed to its kind', async () => {
  const page = await console_.open('/events')
  const row = page.getByRole('table', { name: 'Events' }).getByRole('row', { name: failed.dlq })
  await row.waitFor()
  await row.getByText('a new error group').waitFor()
  await expectAccessibleInEachLook(page)
  await page.getByRole('button', { name: 'Only what lasts' }).click()
  await row.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('button', { name: /Kind/ }).click()
  await page.getByRole('option', { name: /a new error group/ }).click()
  await row.waitFor()
  expect(new URL(page.url()).searchParams.get('type')).toBe('group.new')
  await row.getByRole('link').click()
  await page.waitForURL(/\/groups\/[0-9a-f-]{36}/)
})

test('a route is written, changed and deleted, with its mistakes at its fields', async () => {
  const page = await console_.open('/events')
  await page.getByRole('button', { name: 'New route…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('night')
  await dialog.getByLabel('Topics').fill(`${failed.dlq}, nothing.*`)
  await dialog.getByLabel('Together every').fill('soon')
  await dialog.getByRole('button', { name: 'Save the route' }).click()
  await dialog.getByRole('alert').getByText('digest').first().waitFor()
  await expectAccessibleInEachLook(page)
  await dialog.getByLabel('Together every').fill('1m')
  await dialog.getByLabel('Quiet hours').fill('22:00-07:00 Europe/Berlin')
  await dialog.getByRole('button', { name: 'Save the route' }).click()
  const row = page.getByRole('row', { name: /^night/ })
  await row.getByText(`everything of ${failed.dlq} and nothing.*`).waitFor()
  await row.getByText(/together every 1m, again every 4h, quiet 22:00-07:00 Europe\/Berlin/).waitFor()
  await row.getByRole('button', { name: 'Change night…' }).click()
  await dialog.getByLabel('Kinds of events').fill('run.failed')
  await dialog.getByRole('button', { name: 'Save the route' }).click()
  await row.getByText('run.failed of').waitFor()
  await row.getByRole('button', { name: 'Delete night…' }).click()
  await page.getByRole('button', { name: 'Delete the route' }).click()
  await row.waitFor({ state: 'hidden' })
})

test('a channel is tested, and its delivery says what became of it', async () => {
  const page = await console_.open('/events')
  const row = page.getByRole('table', { name: 'Channels' }).getByRole('row', { name: /on-call/ })
  await row.waitFor()
  await row.getByRole('button', { name: 'Test…' }).click()
  await expectAccessibleInEachLook(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Send the test' }).click()
  const delivery = page
    .getByRole('table', { name: 'Deliveries' })
    .getByRole('row', { name: /a test/ })
    .first()
  await delivery.waitFor()
  // Nothing listens there, so it waits for its next try, and says why.
  await delivery.getByText('waits').waitFor()
  await delivery
    .getByText(/127\.0\.0\.1|not allowed|refused|private/i)
    .first()
    .waitFor()
  await expectAccessibleInEachLook(page)
})
