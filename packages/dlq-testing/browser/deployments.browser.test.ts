// What leads out of the console: to other deployments, and to other tools.

import { expect, test } from 'vitest'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'

const console_ = useConsole()

test('the switch in the head leads to the same section of another deployment', async () => {
  const { open, guarded } = console_.fleet
  const page = await console_.open('/', { expected: [new RegExp(`^foreign request: ${guarded}/`)] })
  // Without a list there is no switch.
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByRole('button', { name: /^Deployment/ }).count()).toBe(0)

  // The ports are known only now, so the list is added to what the API says. So is a name of this console.
  const deployments = [
    { name: 'Europe', url: open },
    { name: 'America', url: guarded },
  ]
  await page.context().route('**/console/config.json', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), deployments, title: 'Shop' } })
  })
  await page.goto(`${open}/console/groups?status=DEAD`)
  await page.getByRole('button', { name: 'Deployment: Europe' }).click()
  expect(await page.title()).toMatch(/ · Shop$/)
  await expectAccessible(page)
  expect(await page.getByRole('menuitem', { name: 'Europe' }).getAttribute('aria-disabled')).toBe('true')
  await page.getByRole('menuitem', { name: 'America' }).click()
  await page.waitForURL(`${guarded}/console/groups`)
  await page.getByLabel('Token').waitFor()
})

test('a message leads to its trace, its logs and the source of a frame, and a note to its ticket', async () => {
  const { sql, fleet } = console_
  const id = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser.tools', error_message: 'no stock', error_class: 'shop.OutOfStock' },
    error_stacktrace: 'shop.OutOfStock: no stock\n\tat shop.Orders.take(Orders.java:12)',
    record_headers: sql.json([['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']]),
  })
  await sql`update dlq.dlq_groups set note = 'see OPS-4711' where id = (select group_id from dlq.dlq_messages where id = ${id})`
  const at = 'https://tools.example.com'
  const links = {
    trace: `${at}/t/{trace_id}`,
    logs: `${at}/l?q={topic}`,
    source: `${at}/s/{file}#L{line}`,
    ticket: `${at}/{ticket}`,
  }
  const page = await console_.open('/')
  await page.context().route('**/console/config.json', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), links } })
  })
  await page.goto(`${fleet.open}/console/messages/${id}`)
  const hrefOf = (name: string | RegExp) => page.getByRole('link', { name }).first().getAttribute('href')
  expect(await hrefOf('Its trace')).toBe(`${at}/t/4bf92f3577b34da6a3ce929d0e0e4736`)
  expect(await hrefOf('Logs')).toBe(`${at}/l?q=browser.tools`)
  expect(await hrefOf(/Orders\.java/)).toBe(`${at}/s/Orders.java#L12`)
  await page.getByRole('link', { name: 'Same error group' }).click()
  expect(await hrefOf('OPS-4711')).toBe(`${at}/OPS-4711`)
})
