// From Now along every kind of link: none leads to nothing, and no page asks the API for what it does not have.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createConsoleTopics, failureNamed, sendLetters } from '../src/browser/console-topics.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { useTopics } from '../src/kafka/test-topics.ts'

const console_ = useConsole()
const topics = useTopics()
/** Of links that differ in names and ids only. */
const visitsOfEachKind = 1
const mostPages = 80

/** The link without its names and ids: "/topics/x?kind=y". */
function kindOf(link: URL): string {
  const path = link.pathname
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/\/(topics|policies)\/[^/]+/, '/$1/NAME')
    .replace(/\/cron\/[^/]+/, '/cron/NAME')
  return `${path}?${[...link.searchParams.keys()].toSorted().join('&')}`
}

const linksOf = async (page: Page): Promise<URL[]> => {
  const found = (await page.evaluate(
    '[...document.querySelectorAll("a[href]:not([download])")].map(({ href }) => href)',
  )) as string[]
  return found
    .map((href) => new URL(href))
    .filter(({ origin, pathname }) => origin === console_.fleet.open && pathname.startsWith('/console/'))
}

test('every link of a fleet with messages leads to a page that has what it is about', async () => {
  const created = await createConsoleTopics(topics, 'links')
  const error = failureNamed('LinksFailure', 'amount -5 is negative')
  const ids = await sendLetters(topics, console_, created, [
    { value: '{"amount":-5}', error },
    { value: '{"amount":-6}', error },
  ])
  const answer = await fetch(`${console_.fleet.open}/api/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'dead', selection: { ids: [ids[0]] } }),
  })
  expect(answer.status).toBe(202)

  const page = await console_.open('/')
  await page.locator('main').getByText('LinksFailure').first().waitFor()
  const faults: string[] = []
  page.on('response', (response) => {
    // A policy that is not there yet is offered to be written.
    const offered = response.status() === 404 && response.url().includes('/api/v1/policies/')
    if (response.status() >= 400 && !offered) faults.push(`${page.url()}: ${response.status()} of ${response.url()}`)
  })
  const waiting = await linksOf(page)
  const visits = new Map<string, number>()
  let seen = 0
  for (let link = waiting.shift(); link !== undefined && seen < mostPages; link = waiting.shift()) {
    const kind = kindOf(link)
    const before = visits.get(kind) ?? 0
    if (before >= visitsOfEachKind) continue
    visits.set(kind, before + 1)
    seen += 1
    await page.goto(link.href)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    const title = await page.getByRole('heading', { level: 1 }).textContent()
    if (/^No such|cannot be read|Nothing is here/.test(title ?? '')) faults.push(`${link.href}: ${title}`)
    waiting.push(...(await linksOf(page)))
  }
  console.log(`followed ${seen} links of ${visits.size} kinds`)
  expect(faults).toEqual([])
  expect(visits.size).toBeGreaterThan(25)
})
