// The flows of somebody who is called at night, each within as many steps as its design allows, against the real fleet:
// with keys alone, and with one thumb on a phone. F7, F9 and F10 are with the pages that they belong to.

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  type ConsoleTopics,
  createConsoleTopics,
  failureNamed,
  type Letter,
  sendLetters,
} from '../src/browser/console-topics.ts'
import { countSteps, type Hand } from '../src/browser/counted-steps.ts'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'
import { readTopic } from '../src/kafka/read-topic.ts'
import { useTopics } from '../src/kafka/test-topics.ts'

const console_ = useConsole()
const topics = useTopics()
const startKey = 'ControlOrMeta+Enter'

type Burning = ConsoleTopics & { group: string; ids: string[] }

/** A topic with one error group. */
async function burn(name: string, letters: readonly Letter[]): Promise<Burning> {
  const created = await createConsoleTopics(topics, name)
  const ids = await sendLetters(topics, console_, created, letters)
  const [row] = await console_.sql<[{ group_id: string }]>`
    select group_id from dlq.dlq_messages where id = ${ids[0]!}`
  return { ...created, ids, group: row.group_id }
}

const negative = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    value: `{"order_id":"${name}-${n}","amount":-5}`,
    error: failureNamed(name, 'amount -5 is negative'),
  }))

const runOf = async (page: Page) => {
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/)
  return /runs\/([0-9a-f-]{36})/.exec(page.url())![1]!
}

const runIs = (id: string, wanted: Record<string, unknown>) =>
  eventually(async () => {
    const [run] =
      await console_.sql`select status, rate_per_second::float8 as rate_per_second from dlq.dlq_runs where id = ${id}`
    expect(run).toMatchObject(wanted)
  })

/** The line of a run in the bar at the bottom of every page. */
const barLine = (page: Page, id: string) =>
  page
    .getByRole('complementary', { name: 'Active runs' })
    .locator('> div')
    .filter({ has: page.locator(`a[href$="/runs/${id}"]`) })

const looks = [
  ['on a laptop', 'mouse', 'desktop'],
  ['on a phone', 'touch', 'phone'],
] as const

describe('F1, what is on fire', () => {
  let burning: Burning
  beforeAll(async () => {
    burning = await burn('f1', negative('F1Failure', 3))
  })

  test.each(looks)('%s the first page answers without a step', async (_, hand, screen) => {
    const before = performance.now()
    const page = await console_.open('/', { screen })
    const steps = countSteps(page, hand)
    await page.getByText(/group(s)? burn.*(wait|DEAD)/).waitFor()
    await page.locator(`a[href$="/groups/${burning.group}"]`).waitFor()
    console.log(`F1, ${screen}: answered after ${Math.round(performance.now() - before)} ms`)
    expect(await page.title()).toMatch(/burn/)
    steps.expectAtMost(0)
    await expectAccessible(page)
  })
})

describe('F2, from the alert to the cause', () => {
  let burning: Burning
  beforeAll(async () => {
    burning = await burn('f2', negative('F2Failure', 2))
  })

  test.each(looks)('%s one step leads to the newest message with its frames and its value', async (_, hand, screen) => {
    const page = await console_.open(`/groups?dlq_topic=${burning.dlq}`, { screen })
    const steps = countSteps(page, hand)
    await steps.click(page.getByRole('link', { name: /F2Failure/ }))
    await page.getByText('amount -5 is negative', { exact: true }).first().waitFor()
    await page.getByText('com.example.orders.Payments.take(Payments.java:42)').waitFor()
    await page.getByText('"order_id": "F2Failure-1"').waitFor()
    expect(page.url()).toContain(burning.group)
    steps.expectAtMost(1)
    await expectAccessible(page)
  })

  test('with keys it is as far', async () => {
    const page = await console_.open(`/groups?dlq_topic=${burning.dlq}`)
    const steps = countSteps(page, 'keyboard')
    await page.getByRole('link', { name: /F2Failure/ }).waitFor()
    await steps.press('o')
    await page.getByText('"order_id": "F2Failure-1"').waitFor()
    steps.expectAtMost(1)
  })
})

describe('F3 and F4, mend one and then all', () => {
  test('with keys one is mended and proved in five steps, and the others in three more', async () => {
    const { group, original, ids } = await burn('f3', negative('F3Failure', 12))
    const newest = ids.at(-1)!
    const page = await console_.open(`/groups/${group}`)
    const steps = countSteps(page, 'keyboard')
    await page.getByText('"order_id": "F3Failure-11"').waitFor()
    await steps.press('e')
    await page.getByRole('button', { name: 'Review' }).waitFor()
    // The value that the error names is selected, so that typing replaces it.
    await steps.type('5')
    await steps.press(startKey)
    await page.getByText('replace /amount with 5').waitFor()
    await steps.type('OPS-4711: signs were lost')
    await steps.press(startKey)
    await page.getByText(/Sent to .* \d+\/\d+/).waitFor()
    steps.expectAtMost(5)
    const [saved] = await console_.sql`
      select convert_from(record_value, 'UTF8') as value, status from dlq.dlq_messages where id = ${newest}`
    expect(saved).toEqual({ value: '{"order_id":"F3Failure-11","amount":5}', status: 'RESOLVED' })

    steps.restart()
    await page.getByRole('link', { name: 'Apply to the other 11 messages…' }).waitFor()
    await steps.press('Enter')
    await page.getByRole('button', { name: `Change and retry 11 messages to ${original}` }).waitFor()
    expect(await page.getByLabel('Reason').inputValue()).toBe('OPS-4711: signs were lost')
    await page.getByText('11 messages before and after').waitFor()
    await expectAccessible(page)
    await steps.press(startKey)
    const run = await runOf(page)
    await page.getByText('11 sent.').waitFor()
    await page.getByRole('button', { name: 'Resolve group' }).waitFor()
    await steps.press('d')
    await page.getByText('Resolved; it comes back by itself').waitFor()
    steps.expectAtMost(3)
    await runIs(run, { status: 'completed' })
    const [{ state }] = await console_.sql<[{ state: string }]>`
      select state from dlq.dlq_group_topics where group_id = ${group}`
    expect(state).toBe('resolved')
    const sent = await readTopic(topics.kafka, { topic: original, groupId: topics.groupName('browser-f3') })
    expect(sent.map(({ value }) => value?.toString()).toSorted()).toEqual(
      ids.map((_, n) => `{"order_id":"F3Failure-${n}","amount":5}`).toSorted(),
    )
  })
})

describe('F5, send a group again carefully, and F6, a run goes wrong', () => {
  const start = async (name: string) => {
    const failed = await burn(name, negative(`${name}Failure`, 25))
    return failed
  }

  test('with keys: three steps to a run with a canary; one pauses it, two slow it, two end it', async () => {
    const { group } = await start('F5keys')
    const page = await console_.open(`/groups/${group}`)
    const steps = countSteps(page, 'keyboard')
    await page.getByText('"order_id": "F5keysFailure-24"').waitFor()
    await steps.press('r')
    await page.getByRole('button', { name: /^Retry 25 messages/ }).waitFor()
    expect(await page.getByRole('radio', { name: /Careful/ }).isChecked()).toBe(true)
    await steps.type('the network is back')
    await steps.press(startKey)
    const run = await runOf(page)
    steps.expectAtMost(3)

    await barLine(page, run).getByRole('button', { name: 'Pause' }).waitFor()
    steps.restart()
    await steps.press('Shift+p')
    await runIs(run, { status: 'paused' })
    steps.expectAtMost(1)

    steps.restart()
    await steps.press('Shift+r')
    await page.getByRole('menuitem', { name: '1 a second' }).waitFor()
    await steps.press('Enter')
    await runIs(run, { rate_per_second: 1 })
    steps.expectAtMost(2)

    steps.restart()
    await steps.press('Shift+c')
    await page.getByRole('heading', { name: 'Cancel this run?' }).waitFor()
    await steps.press('Enter')
    await runIs(run, { status: 'cancelled' })
    steps.expectAtMost(2)
  })

  test('on a phone it takes no more', async () => {
    const { group } = await start('F5thumb')
    const page = await console_.open(`/groups/${group}`, { screen: 'phone' })
    const steps = countSteps(page, 'touch')
    await page.getByText('"order_id": "F5thumbFailure-24"').waitFor()
    await steps.click(page.getByRole('link', { name: 'Retry…' }))
    const button = page.getByRole('button', { name: /^Retry 25 messages/ })
    await button.waitFor()
    await steps.type('the network is back')
    await steps.click(button)
    const run = await runOf(page)
    steps.expectAtMost(3)

    // From any page: this one knows nothing of the run.
    await page.goto(`${console_.fleet.open}/console/groups?tab=all`)
    const line = barLine(page, run)
    steps.restart()
    await steps.click(line.getByRole('button', { name: 'Pause' }))
    await runIs(run, { status: 'paused' })
    steps.expectAtMost(1)

    steps.restart()
    await steps.click(line.getByRole('button', { name: /^Rate/ }))
    await steps.click(page.getByRole('menuitem', { name: '10 a second' }))
    await runIs(run, { rate_per_second: 10 })
    steps.expectAtMost(2)

    steps.restart()
    await steps.click(line.getByRole('button', { name: 'Cancel' }))
    await steps.click(page.getByRole('button', { name: 'Cancel the run' }))
    await runIs(run, { status: 'cancelled' })
    steps.expectAtMost(2)
  })
})

describe('F8, the triage in the morning', () => {
  const classes = ['Alpha', 'Beta', 'Gamma', 'Delta']
  const acts = [
    { key: 's', button: 'Snooze 1 h', state: 'snoozed' },
    { key: 'i', button: 'Ignore', state: 'ignored' },
    { key: 'd', button: 'Done', state: 'resolved' },
  ]

  const triage = async (name: string, hand: Hand, screen: 'desktop' | 'phone') => {
    const created = await createConsoleTopics(topics, name)
    await sendLetters(
      topics,
      console_,
      created,
      classes.map((one) => ({ value: '{}', error: failureNamed(`${name}${one}`, 'no') })),
    )
    const page = await console_.open(`/groups?dlq_topic=${created.dlq}`, { screen })
    const steps = countSteps(page, hand)
    const rows = page.locator('[data-group-row]')
    await eventually(async () => expect(await rows.count()).toBe(4))
    const states = async () => {
      const found = await console_.sql<{ state: string }[]>`
        select state from dlq.dlq_group_topics where dlq_topic = ${created.dlq} order by state`
      return found.map(({ state }) => state)
    }
    const act = async ({ key, button }: { key: string; button: string }) => {
      if (hand === 'keyboard') await steps.press(key)
      else await steps.click(page.getByRole('button', { name: button }).first())
    }
    for (const [done, one] of acts.entries()) {
      steps.restart()
      await act(one)
      await eventually(async () => expect(await rows.count()).toBe(3 - done))
      await eventually(async () => expect(await states()).toContain(one.state))
      steps.expectAtMost(1)
    }
    await page.getByText('Resolved; it comes back by itself').waitFor()
    steps.restart()
    if (hand === 'keyboard') await steps.press('z')
    else await steps.click(page.getByRole('button', { name: 'Undo' }))
    await eventually(async () => expect(await states()).toEqual(['ignored', 'open', 'open', 'snoozed']))
    await eventually(async () => expect(await rows.count()).toBe(2))
    steps.expectAtMost(1)
    steps.restart()
    await act({ key: 'a', button: 'Mine' })
    await rows.first().getByText('anonymous').waitFor({ state: 'attached' })
    steps.expectAtMost(1)
  }

  test('one key for each group, and one takes it back', () => triage('f8keys', 'keyboard', 'desktop'))
  test('one tap for each group, and one takes it back', () => triage('f8thumb', 'touch', 'phone'))
})
