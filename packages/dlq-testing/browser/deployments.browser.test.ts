// The switch between deployments: two APIs with a console each.

import { expect, test } from 'vitest'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
import { useConsole } from '../src/browser/use-console.ts'

const console_ = useConsole()

test('the switch in the head leads to the same section of another deployment', async () => {
  const { open, guarded } = console_.fleet
  const page = await console_.open('/', { expected: [new RegExp(`^foreign request: ${guarded}/`)] })
  // Without a list there is no switch.
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByRole('button', { name: /^Deployment/ }).count()).toBe(0)

  // The ports are known only now, so the list is added to what the API says.
  const deployments = [
    { name: 'Europe', url: open },
    { name: 'America', url: guarded },
  ]
  await page.context().route('**/console/config.json', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), deployments } })
  })
  await page.goto(`${open}/console/groups?status=DEAD`)
  await page.getByRole('button', { name: 'Deployment: Europe' }).click()
  await expectAccessible(page)
  expect(await page.getByRole('menuitem', { name: 'Europe' }).getAttribute('aria-disabled')).toBe('true')
  await page.getByRole('menuitem', { name: 'America' }).click()
  await page.waitForURL(`${guarded}/console/groups`)
  await page.getByLabel('Token').waitFor()
})
