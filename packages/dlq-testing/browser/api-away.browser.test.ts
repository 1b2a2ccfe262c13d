// The console while nobody answers it, or only with refusals: what is open stays, and how old it is can be seen.

import { expect, test } from 'vitest'
import { useConsole } from '../src/browser/use-console.ts'

const console_ = useConsole()
const expected = [/Failed to load resource/, /preload CSS/]

test('while every answer is a refusal the page is not live, and says from when it is', async () => {
  const page = await console_.open('/', { expected })
  await page.getByText('live', { exact: true }).waitFor()
  await page.route('**/api/v1/**', (route) => route.fulfill({ status: 503, json: {} }))
  await page.getByText(/^What is shown is the last that was known, as of \d+ s ago:/).waitFor()
  await page.getByText(/^nothing new for \d+ s$/).waitFor()
  expect(await page.getByText('live', { exact: true }).count()).toBe(0)
})
