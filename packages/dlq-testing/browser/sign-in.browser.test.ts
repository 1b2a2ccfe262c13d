// From the sheet that asks for a token to the first page, and out again.

import { expect, test } from 'vitest'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
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
