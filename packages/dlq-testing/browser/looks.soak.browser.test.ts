// The console for eyes and screens of other kinds: forced colours, the longest names on the narrowest screen, no motion.

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'

const console_ = useConsole()
/** As long as Kafka allows; one word without a place to break. */
const longest = (begin: string) => begin.padEnd(249, 'abcdefghij')
const topic = longest('browser-long-')
const dlq = `${longest('browser-long-').slice(0, 242)}.dlq.v1`

let message: string
let group: string

beforeAll(async () => {
  message = await insertGroupedRow(console_, {
    ...{ original_topic: topic, dlq_topic: dlq, consumer_group: longest('group-') },
    ...{ error_class: `com.example.${'Very'.repeat(50)}LongException`, error_message: 'x'.repeat(900) },
    ...{
      record_key: Buffer.from('k'.repeat(400)),
      record_value: Buffer.from(`{"${'n'.repeat(300)}":"${'v'.repeat(900)}"}`),
    },
    record_headers: console_.sql.json([['h'.repeat(200), 'v'.repeat(500)]]),
  })
  const [row] = await console_.sql<[{ group_id: string }]>`select group_id from dlq.dlq_messages where id = ${message}`
  group = row.group_id
})

const pagesOf = (): readonly [path: string, words: string | RegExp][] => [
  ['/', /burn|open/],
  [`/groups?dlq_topic=${dlq}`, /LongException/],
  [`/groups/${group}`, 'n'.repeat(300)],
  [`/messages?topic=${topic}`, /xxxxx/],
  [`/messages/${message}`, 'n'.repeat(300)],
  [`/messages/${message}?tab=headers`, 'h'.repeat(200)],
  [`/messages/${message}/edit`, 'Review'],
  [`/runs/new?kind=retry&group=${group}`, /Retry 1 message/],
  [`/runs/new?kind=delete&topic=${topic}`, /Delete 1 message/],
  ['/topics?q=browser-long&kind=original', topic],
  [`/topics/${topic}`, 'Policy in force'],
  [`/policies/${topic}/edit`, 'Waits that follow'],
  [`/audit?topic=${topic}`, /Nobody has changed|None of the newest/],
]

const overflow = (screen: number) => `(() => {
  const wide = [...document.querySelectorAll('body *')].filter((one) => {
    const { right, width } = one.getBoundingClientRect()
    if (width === 0 || right <= ${screen + 1}) return false
    for (let at = one.parentElement; at; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== 'visible' || getComputedStyle(at).clipPath !== 'none') return false
    return getComputedStyle(one).clipPath === 'none'
  })
  return { page: document.documentElement.scrollWidth, wide: wide.slice(0, 5).map((one) => one.outerHTML.slice(0, 200)) }
})()`

// 320 px is what a desktop has at 400 %.
test('the longest names break or are cut on a phone and at 320 px, and no page is wider than that', async () => {
  const page = await console_.open('/', { screen: 'phone' })
  for (const [path, ready] of pagesOf()) {
    await page.goto(`${console_.fleet.open}/console${path}`)
    await page.getByText(ready).first().waitFor()
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await page.evaluate(overflow(width)), path).toEqual({ page: width, wide: [] })
    }
  }
})

const readyPages = async (page: Page, look: (path: string) => Promise<void>) => {
  for (const [path, ready] of pagesOf()) {
    await page.goto(`${console_.fleet.open}/console${path}`)
    await page.getByText(ready).first().waitFor()
    await look(path)
  }
}

describe('forced colours', () => {
  test('leave every text readable, and show what has the focus', async () => {
    const page = await console_.open('/', { colors: 'forced' })
    await readyPages(page, async () => {
      expect(await page.evaluate('matchMedia("(forced-colors: active)").matches')).toBe(true)
      await expectAccessible(page)
    })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
    expect(outline).not.toBe('none')
  })

  test('tell what is chosen, and what may not be pressed, from the rest', async () => {
    const page = await console_.open(`/groups/${group}`, { colors: 'forced' })
    await page.getByText('n'.repeat(300)).first().waitFor()
    const backgrounds = `(() => {
      const of = (chosen) => {
        const { backgroundColor, outlineStyle, borderInlineStartColor, color } = getComputedStyle(document.querySelector(chosen))
        return [backgroundColor, outlineStyle, borderInlineStartColor, color].join(' ')
      }
      return [of('nav a[aria-current="page"], nav a.active'), of('nav a:not([aria-current]):not(.active)')]
    })()`
    const [chosen, other] = (await page.evaluate(backgrounds)) as [string, string]
    expect(chosen).not.toBe(other)
  })
})

test('nothing moves for those who want no motion', async () => {
  await console_.sql`update dlq.dlq_messages set status = 'RETRYING', lease_slot = 1000, lease_batch = 1 where id = ${message}`
  try {
    const page = await console_.open(`/messages/${message}`)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.getByText('n'.repeat(300)).first().waitFor()
    expect(await page.evaluate('getComputedStyle(document.documentElement).getPropertyValue("--quick").trim()')).toBe(
      '0s',
    )
    expect(
      await page.evaluate('document.getAnimations().filter(({ playState }) => playState === "running").length'),
    ).toBe(0)
  } finally {
    await console_.sql`
      update dlq.dlq_messages set status = 'PENDING', lease_slot = null, lease_batch = null where id = ${message}`
  }
})

// Whoever presses what has just moved presses something else. 0.1 is what the Core Web Vitals call good.
test.each(['desktop', 'phone'] as const)(
  'what is shown stays where it is while the rest loads, on a %s',
  async (screen) => {
    const page = await console_.open('/', { screen })
    await page.addInitScript(`
    window.shifts = []
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput, sources } of list.getEntries())
        if (!hadRecentInput) window.shifts.push({ value, of: sources.map(({ node }) => node?.outerHTML?.slice(0, 120)) })
    }).observe({ type: 'layout-shift', buffered: true })`)
    const lists = ['', 'messages', 'groups', 'topics', 'runs', 'policies', 'audit', 'events', 'system', 'system/sagas']
    const one = [`messages/${message}`, `messages/${message}/edit`, `groups/${group}`, `topics/${topic}`]
    const forms = [`runs/new?kind=retry&group=${group}`, `policies/${topic}/edit`, 'settings']
    for (const path of [...lists, ...one, ...forms]) {
      await page.goto(`${console_.fleet.open}/console/${path}`)
      await page.waitForLoadState('networkidle')
      const shifts = (await page.evaluate('window.shifts')) as { value: number; of: string[] }[]
      const sum = shifts.reduce((total, { value }) => total + value, 0)
      expect(sum, JSON.stringify({ path, shifts })).toBeLessThan(0.1)
    }
  },
)
