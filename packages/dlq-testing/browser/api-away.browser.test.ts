// The console while nobody answers it, or only with refusals: what is open stays, and how old it is can be seen.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'

const console_ = useConsole()
/** The API, and the console's files with it. */
const all = '**/{api,console}/**'
const expected = [/Failed to load resource/, /preload CSS/]

/** From now on the page is still the same one. */
const mark = (page: Page) => page.evaluate('window.isSamePage = true')
const isSame = (page: Page) => page.evaluate('window.isSamePage === true')

test('a page that was not visited yet says that it cannot be loaded while nobody answers, and comes afterwards', async () => {
  const page = await console_.open('/', { expected })
  await page.getByRole('button', { name: 'anonymous' }).waitFor()
  await mark(page)
  await page.route(all, (route) => route.abort('connectionrefused'))
  await page.getByRole('link', { name: 'Policies', exact: true }).click()
  await page.getByText('This page cannot be loaded while the API does not answer.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This page cannot be loaded while the API does not answer.').waitFor()
  // What is loaded already is still there.
  await page.getByRole('link', { name: 'Now', exact: true }).click()
  await page.getByRole('heading', { name: 'Now', level: 1 }).waitFor({ state: 'attached' })
  await page.getByRole('link', { name: 'Policies', exact: true }).click()
  await page.getByText('This page cannot be loaded while the API does not answer.').waitFor()
  expect(await isSame(page)).toBe(true)
  await page.unroute(all)
  await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor()
})

test('a dialog that cannot be loaded is tried again when somebody wants it, or left', async () => {
  const id = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser-away', error_message: 'amount -5 is negative' },
    ...{ record_value: Buffer.from('{"amount":-5}'), record_headers: console_.sql.json([]) },
  })
  const page = await console_.open(`/messages/${id}`, { expected })
  await page.getByText('"amount": -5').waitFor()
  await mark(page)
  await page.route('**/console/**', (route) => route.abort('connectionrefused'))
  const words = page.getByText('This part of the console cannot be loaded while the API does not answer.')
  await page.getByRole('button', { name: 'Give up' }).click()
  await words.waitFor()
  await page.getByRole('button', { name: 'Leave it' }).click()
  await words.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Give up' }).click()
  await words.waitFor()
  await page.keyboard.press('ControlOrMeta+k')
  await eventually(async () => expect(await words.count()).toBe(2))
  await page.getByRole('button', { name: 'Leave it' }).first().click()
  await page.unroute('**/console/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('"amount": -5').waitFor()
  await eventually(async () => expect(await isSame(page)).toBe(false))
  await page.getByRole('button', { name: 'Give up' }).click()
  await page.getByRole('dialog', { name: 'Give this message up?' }).waitFor()
})

test('what is typed stays, also where a part came too late', async () => {
  const page = await console_.open('/policies/browser-away/edit', { expected })
  await page.getByRole('button', { name: 'Save' }).waitFor()
  await page.route('**/console/**', (route) => route.abort('connectionrefused'))
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByText('This part of the console cannot be loaded while the API does not answer.').waitFor()
  await mark(page)
  await page.unroute('**/console/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Save what you have typed before').waitFor()
  expect(await isSame(page)).toBe(true)
})

test('a page that is gone because a newer console is there is loaded with it', async () => {
  const page = await console_.open('/', { expected })
  await page.getByRole('button', { name: 'anonymous' }).waitFor()
  await mark(page)
  await page.route('**/console/assets/policies-page*', (route) => route.fulfill({ status: 404 }))
  await page.route('**/console/config.json', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), build: 'newer' } })
    await page.unroute('**/console/assets/policies-page*')
  })
  await page.getByRole('link', { name: 'Policies', exact: true }).click()
  await page.getByRole('heading', { name: 'Policies', level: 1 }).waitFor()
  expect(await isSame(page)).toBe(false)
  await page.unrouteAll({ behavior: 'wait' })
})

test('while every answer is a refusal the page is not live, and says from when it is', async () => {
  const page = await console_.open('/', { expected })
  await page.getByText('live', { exact: true }).waitFor()
  await page.route('**/api/v1/**', (route) => route.fulfill({ status: 503, json: {} }))
  await page.getByText(/^What is shown is the last that was known, as of \d+ s ago:/).waitFor()
  await page.getByText(/^nothing new for \d+ s$/).waitFor()
  expect(await page.getByText('live', { exact: true }).count()).toBe(0)
})

test('a page that has never had an answer is not live, and has all its parts once there is one', async () => {
  const page = await console_.open('/settings', { expected })
  await page.clock.install()
  await page.route('**/api/v1/**', (route) => route.fulfill({ status: 404, json: {} }))
  await page.goto(`${console_.fleet.open}/console/system`)
  await page.getByText('The state cannot be read').waitFor()
  await page.clock.fastForward(20_000)
  await page.getByText(/^nothing new for \d+ s$/).waitFor()
  await page.unroute('**/api/v1/**')
  await page.clock.fastForward(6000)
  await page.getByRole('table', { name: 'Scheduled jobs' }).waitFor()
  await page.getByText('live', { exact: true }).waitFor()
})

test('a search says that it does not know while the API does not, and leaves alone what is typed meanwhile', async () => {
  const id = await insertGroupedRow(console_, { original_topic: 'browser-away', error_message: 'sought while away' })
  const page = await console_.open('/audit', { expected })
  await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor()
  const field = page.getByRole('searchbox', { name: 'Search', exact: true })
  const message = `**/api/v1/dlq/messages/${id}`
  await page.route(message, (route) => route.fulfill({ status: 503, json: {} }))
  await field.fill(id)
  await field.press('Enter')
  await page.getByText('It is not known: the API answered 503.').waitFor()
  await page.unroute(message)
  await page.route(message, (route) => route.abort('connectionrefused'))
  await field.press('Enter')
  await page.getByText('It is not known: the API does not answer.').waitFor()
  await page.unroute(message)

  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  await page.route(message, async (route) => {
    asked.resolve()
    await answer.promise
    await route.continue()
  })
  await field.press('Enter')
  await asked.promise
  await field.fill('something else')
  const answered = page.waitForResponse(message)
  answer.resolve()
  await answered
  // The page has dealt with the answer before it answers this.
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))')
  expect(await field.inputValue()).toBe('something else')
  expect(new URL(page.url()).pathname).toBe('/console/audit')
})

test('a page that cannot show an answer says so in its own place, and the others go on', async () => {
  const page = await console_.open('/', { expected: [...expected, /undefined/] })
  await page.route('**/api/v1/groups?*', (route) => route.fulfill({ json: {} }))
  await page.getByRole('link', { name: 'Groups', exact: true }).click()
  await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor()
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await page.unrouteAll({ behavior: 'wait' })
})
