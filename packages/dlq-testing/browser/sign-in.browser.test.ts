// From the sheet that asks for a token to the first page, and out again.

import { expect, test } from 'vitest'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'

const console_ = useConsole()

test('somebody signs in by a token, sees what fails now, and signs out', async () => {
  const page = await console_.open('/', { url: console_.fleet.guarded })
  const token = page.getByLabel('Token')
  await token.waitFor()
  await expectAccessible(page)
  await token.fill('a wrong token')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This token is not known').waitFor()
  await token.fill(console_.fleet.tokens.operator)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await token.waitFor({ state: 'hidden' })
  await page.getByRole('heading', { level: 1 }).waitFor()

  const cookies = await page.context().cookies()
  expect(cookies).toMatchObject([{ name: 'dlq-session', httpOnly: true, sameSite: 'Strict' }])
  expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
    console_.fleet.tokens.operator,
  )
  const second = await page.context().newPage()
  await second.goto(page.url())
  await second.getByRole('heading', { level: 1 }).waitFor()
  expect(await second.getByLabel('Token').isVisible()).toBe(false)

  await page.getByRole('button', { name: /operator/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await page.context().cookies()).toEqual([])
})

test('what one person has read is gone once another has signed in, or they have signed out', async () => {
  const { sql } = console_
  const letter = { error_message: 'for the operator', record_value: Buffer.from('{"for":"one"}') }
  const columns = { original_topic: 'browser-persons', record_headers: sql.json([]), ...letter }
  const id = await insertGroupedRow(console_, columns)
  const page = await console_.open(`/messages/${id}`, { as: 'operator' })
  const value = page.getByText('"for": "one"')
  const isSame = () => page.evaluate('window.isSamePage === true')
  const signIn = async (who: 'operator' | 'auditor') => {
    await page.getByLabel('Token').fill(console_.fleet.tokens[who])
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: who, exact: true }).waitFor()
  }
  await value.waitFor()
  await page.evaluate(`window.isSamePage = true; sessionStorage.setItem('dlq-console.edit.${id}', '{}')`)
  await page.context().clearCookies()
  await signIn('operator')
  expect(await isSame()).toBe(true)
  await page.context().clearCookies()
  await signIn('auditor')
  await page.waitForFunction('window.isSamePage !== true')
  expect(await page.evaluate(`sessionStorage.getItem('dlq-console.edit.${id}')`)).toBeNull()
  await value.waitFor()

  await page.route('**/api/v1/session', (route) => route.fulfill({ status: 503, json: {} }))
  await page.getByRole('button', { name: 'auditor', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByText('You are still signed in: the API answered 503.').waitFor()
  await page.unroute('**/api/v1/session')
  await page.getByRole('button', { name: 'auditor', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Token').waitFor()
  expect(await value.count()).toBe(0)
})

test('who comes back from the provider unsigned is told why, and then finds the place where they were', async () => {
  const { guarded, tokens } = console_.fleet
  const page = await console_.open('/settings', { url: guarded })
  const config = (await (await fetch(`${guarded}/console/config.json`)).json()) as object
  const json = { ...config, sign_in: ['token', 'oidc'] }
  await page.route('**/console/config.json', (route) => route.fulfill({ json }))
  const asked: string[] = []
  await page.route('**/console/login?*', (route) => {
    asked.push(route.request().url())
    return route.fulfill({ status: 302, headers: { location: '/console/sign-in?error=no-role' } })
  })
  const place = '/console/runs/new?kind=retry&topic=browser-persons#reason=OPS-4711'
  await page.goto(`${guarded}${place}`)
  await page.getByRole('link', { name: 'Sign in with your provider' }).click()
  await page.getByText('The provider knows you, and you have no role here.').waitFor()
  expect(asked.join()).toMatch(/\/login\?return=%2Fconsole%2Fsign-in$/)
  await page.getByLabel('Token').fill(tokens.operator)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(`${guarded}${place}`)
  expect(await page.getByLabel('Reason').inputValue()).toBe('OPS-4711')

  for (const [asked, led] of [
    ['?return=/console/topics', '/console/topics'],
    ['?return=https://elsewhere.example/console/', '/console/'],
  ]) {
    await page.goto(`${guarded}/console/sign-in${asked}`)
    await page.waitForURL(`${guarded}${led}`)
  }
})
