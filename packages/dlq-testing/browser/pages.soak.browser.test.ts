// Topics, policies, the audit, the system and what lies over a page, against the real fleet: F7, F9 and F10 within as many
// steps as their design allows, and axe on every page in each look.

import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleTopics, createConsoleTopics, failureNamed, sendLetters } from '../src/browser/console-topics.ts'
import { countSteps } from '../src/browser/counted-steps.ts'
import { expectAccessibleInEachLook } from '../src/browser/expect-accessible.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'
import { useTopics } from '../src/kafka/test-topics.ts'

const console_ = useConsole()
const topics = useTopics()

let failed: ConsoleTopics
let ids: string[]
const key = `order-${crypto.randomUUID()}`

beforeAll(async () => {
  failed = await createConsoleTopics(topics, 'pages')
  const error = failureNamed('PagesFailure', 'amount -5 is negative')
  const value = '{"order_id":"4711","amount":-5}'
  ids = await sendLetters(topics, console_, failed, [
    { value, error, key },
    { value, error },
    { value, error },
  ])
})

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${console_.fleet.open}/api/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(answer.status, `${method} ${path}`).toBeLessThan(300)
  return answer.json()
}

/** A topic of its own, so that no other test sees what is paused or set here. */
async function ownTopic(name: string): Promise<ConsoleTopics> {
  const created = await createConsoleTopics(topics, name)
  await sendLetters(topics, console_, created, [{ value: '{}', error: failureNamed('Own', 'no') }])
  return created
}

const pauseOf = async (topic: string) => {
  const found = (await ask('GET', `/topics/${topic}`)) as { paused: { reason: string; until: string | null } | null }
  return found.paused
}

describe('F7, stop the retries of a topic', () => {
  test('by keys from any page in five steps', async () => {
    const { original } = await ownTopic('f7')
    const page = await console_.open('/runs')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    const steps = countSteps(page, 'keyboard')
    await steps.press('ControlOrMeta+k')
    await steps.type(`pause ${original} 2h`)
    await page.getByRole('menuitem', { name: `Pause retries of ${original} for 2h` }).waitFor()
    await steps.press('Enter')
    await page.getByRole('dialog', { name: `Pause retries of ${original}?` }).waitFor()
    await steps.type('the card network is down')
    await steps.press('ControlOrMeta+Enter')
    await page.getByText(`Paused: retries of ${original}`).waitFor()
    steps.expectAtMost(5)
    const pause = await pauseOf(original)
    expect(pause?.reason).toBe('the card network is down')
    const hours = (Date.parse(pause!.until!) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(1.9)
    expect(hours).toBeLessThan(2.1)
  })

  test('with one thumb on a phone in five steps', async () => {
    const { original } = await ownTopic('f7phone')
    const page = await console_.open('/', { screen: 'phone' })
    const steps = countSteps(page, 'touch')
    await steps.click(page.getByRole('button', { name: 'Commands' }))
    await steps.type(`pause ${original} 30m`)
    await steps.click(page.getByRole('menuitem', { name: `Pause retries of ${original} for 30m` }))
    await page.getByRole('dialog', { name: `Pause retries of ${original}?` }).waitFor()
    await steps.type('too many come back')
    await steps.click(page.getByRole('button', { name: 'Pause retries' }))
    await page.getByText(`Paused: retries of ${original}`).waitFor()
    steps.expectAtMost(5)
    expect((await pauseOf(original))?.reason).toBe('too many come back')
  })

  test('who only reads sees why it may not, and nothing is paused', async () => {
    const { original } = await ownTopic('f7reader')
    const page = await console_.open(`/topics/${original}`, { as: 'auditor' })
    const button = page.getByRole('button', { name: 'Pause retries…', disabled: true })
    await button.waitFor()
    await button.focus()
    await page.getByText('needs the role sys_operator').waitFor()
    await page.keyboard.press('Enter')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await pauseOf(original)).toBeNull()
  })
})

describe('F9, where is order 4711', () => {
  test('pasted into the search it is found in three steps', async () => {
    const page = await console_.open('/')
    await page.getByRole('searchbox', { name: 'Search' }).waitFor()
    const steps = countSteps(page, 'keyboard')
    await steps.press('/')
    await steps.type(key)
    await steps.press('Enter')
    await page.waitForURL(`**/messages/${ids[0]}`)
    await page.getByText('"order_id": "4711"').waitFor()
    steps.expectAtMost(3)
  })

  test('what is not found says where it was looked for', async () => {
    const page = await console_.open('/topics')
    const steps = countSteps(page, 'keyboard')
    await page.getByRole('searchbox', { name: 'Search', exact: true }).waitFor()
    await steps.press('/')
    await steps.type('no-such-order-anywhere')
    await steps.press('Enter')
    await page.getByText('no message has the key “no-such-order-anywhere”').waitFor()
  })
})

describe('F10, change a policy and know what it will do', () => {
  test('from the topic in four steps, with every topic that changes beside it', async () => {
    const { original } = await ownTopic('f10')
    const page = await console_.open(`/topics/${original}`)
    const steps = countSteps(page, 'mouse')
    await steps.click(page.getByRole('link', { name: 'Change: Attempts' }))
    await page.getByRole('heading', { name: `New policy for ${original}` }).waitFor()
    await steps.type('7')
    const preview = page.getByRole('region', { name: 'What would change' })
    await preview.getByText('1 topic changes; 1 message waits there.').waitFor()
    await preview.getByText('Attempts: 3 7').waitFor()
    // As the fleet of these tests is configured.
    await page.getByText('Nothing is tried by itself.').waitFor()
    await steps.type('the network is slow', page.getByLabel('Reason'))
    await steps.click(page.getByRole('button', { name: 'Save' }))
    await page.getByText('It matches 1 topic and decides something for it, where 1 message waits.').waitFor()
    steps.expectAtMost(4)
    const { policy } = (await ask('GET', `/policies/${original}`)) as { policy: Record<string, unknown> }
    expect(policy).toMatchObject({ pattern: original, max_retries: 7 })
    const { entries } = (await ask('GET', `/audit?target_type=policy&target_id=${original}`)) as { entries: unknown[] }
    expect(entries).toMatchObject([{ action: 'policy.put', reason: 'the network is slow' }])
  })

  test('a policy that somebody else has changed meanwhile is not overwritten', async () => {
    const pattern = `${failed.original}.raced`
    await ask('PUT', `/policies/${pattern}`, { max_retries: 4 })
    const page = await console_.open(`/policies/${pattern}/edit`)
    await page.getByLabel('Attempts').fill('9')
    await ask('PUT', `/policies/${pattern}`, { max_retries: 5 })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It has been changed meanwhile').waitFor()
    expect(await ask('GET', `/policies/${pattern}`)).toMatchObject({ policy: { max_retries: 5 } })
  })
})

describe('a topic', () => {
  test('is paused and resumed, and says so in a sentence', async () => {
    const { original, dlq } = await ownTopic('paused')
    const page = await console_.open(`/topics/${dlq}`)
    await page.getByRole('heading', { name: dlq }).waitFor()
    await page.keyboard.press('s')
    await page.getByLabel('Reason').fill('a test')
    await page.getByLabel('Reason').press('ControlOrMeta+Enter')
    await page.getByText(/Retries are paused by anonymous .*\(a test\); it ends in/).waitFor()
    await page.getByRole('button', { name: 'Resume retries…' }).click()
    await page.getByRole('button', { name: 'Resume retries', exact: true }).click()
    await page.getByRole('button', { name: 'Pause retries…' }).waitFor()
    expect(await pauseOf(dlq)).toBeNull()
    await page.getByRole('link', { name: original }).first().waitFor()
  })

  test('has its partitions read again only after their names are typed', async () => {
    const { dlq } = await ownTopic('reset')
    const page = await console_.open(`/topics/${dlq}`)
    await page.getByRole('button', { name: 'Read again…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Next offset').fill('0')
    await dialog.getByRole('button', { name: 'Move the position' }).click()
    await dialog.getByText(`This is not ${dlq}/0.`).waitFor()
    await dialog.getByLabel(`Type ${dlq}/0 to confirm`).fill(`${dlq}/0`)
    await dialog.getByRole('button', { name: 'Move the position' }).click()
    await page.getByText('Partition 0 goes on at 0').waitFor()
    const { entries } = (await ask('GET', `/audit?action=position.reset&topic=${dlq}`)) as { entries: unknown[] }
    expect(entries).toHaveLength(1)
  })
})

/** Opens a menu or a dialog, looks at it, and closes it again. */
async function within(page: Page, open: string | RegExp, shown: 'dialog' | 'menu' | 'listbox'): Promise<void> {
  await page.getByRole('button', { name: open }).first().click()
  await page.getByRole(shown).first().waitFor()
  await expectAccessibleInEachLook(page)
  await page.keyboard.press('Escape')
  await page.getByRole(shown).first().waitFor({ state: 'hidden' })
}

describe('axe finds nothing', () => {
  test('in the list of topics', async () => {
    const page = await console_.open('/topics')
    await page.getByRole('link', { name: failed.dlq }).waitFor()
    await expectAccessibleInEachLook(page)
    await within(page, /Order/, 'listbox')
  })

  test('on a topic, and where its retries are paused', async () => {
    const page = await console_.open(`/topics/${failed.dlq}`)
    await page.getByRole('table', { name: 'Partitions' }).waitFor()
    await page.getByText('PagesFailure').first().waitFor()
    await expectAccessibleInEachLook(page)
    await within(page, 'Pause retries…', 'dialog')
  })

  test('in the policies, the cascade of a topic, a policy and its editor', async () => {
    await ask('PUT', `/policies/${failed.original}`, {
      ...{ max_retries: 4, backoff: 'list', backoff_list: ['1h', '2h'], auto_retry: true },
    })
    const page = await console_.open(`/policies?topic=${failed.original}`)
    await page.getByRole('region', { name: `What decides for ${failed.original}` }).waitFor()
    await expectAccessibleInEachLook(page)
    await within(page, 'New policy…', 'dialog')
    await page
      .getByRole('table', { name: 'Policies, the weakest first' })
      .getByRole('link', { name: failed.original, exact: true })
      .click()
    await page.getByText('It matches 1 topic').waitFor()
    await expectAccessibleInEachLook(page)
    await within(page, 'Delete…', 'dialog')
    await page.getByRole('button', { name: 'Change…' }).click()
    await page.getByText(/^4 attempts; it gives up after/).waitFor()
    await expectAccessibleInEachLook(page)
  })

  test('in the audit, with an entry open', async () => {
    await ask('POST', `/topics/${failed.original}/pause`, { reason: 'for the audit' })
    await ask('POST', `/topics/${failed.original}/resume`, { reason: 'for the audit' })
    const page = await console_.open(`/audit?topic=${failed.original}`)
    await page.getByRole('button', { name: /What changed: anonymous resumed the topic/ }).click()
    await page.getByText('All changes of this topic').waitFor()
    await expectAccessibleInEachLook(page)
    await page.goto(page.url().replace(/\?.*/, '?actor=nobody-of-this-name'))
    await page.getByText('Nobody has changed anything in this range.').waitFor()
    await expectAccessibleInEachLook(page)
  })

  test('in the system, a job and the workflows', async () => {
    const page = await console_.open('/system')
    const job = page.getByRole('table', { name: 'Scheduled jobs' }).getByRole('link').first()
    await job.waitFor()
    await expectAccessibleInEachLook(page)
    await within(page, 'Run now…', 'dialog')
    await job.click()
    await page.getByRole('region', { name: 'Executions' }).waitFor()
    await expectAccessibleInEachLook(page)
    await page.getByRole('link', { name: 'System', exact: true }).last().click()
    await page.getByRole('link', { name: 'Workflows behind bulk runs' }).click()
    await page.getByRole('heading', { name: 'Workflows' }).waitFor()
    await expectAccessibleInEachLook(page)
  })

  test('in the settings, the commands, the keys, the requests and on no page', async () => {
    const page = await console_.open('/settings')
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
    await expectAccessibleInEachLook(page)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await expectAccessibleInEachLook(page)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Shift+a')
    await page.getByRole('dialog', { name: 'Requests' }).waitFor()
    await expectAccessibleInEachLook(page)
    await page.keyboard.press('Escape')
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('dialog', { name: 'Commands' }).waitFor()
    await expectAccessibleInEachLook(page)
    await page.keyboard.press('Escape')
    await page.goto(page.url().replace('/settings', '/topics/a/b/c'))
    await page.getByText('This looks like the address of a topic').waitFor()
    await expectAccessibleInEachLook(page)
  })

  test('on a phone with the sections that have no room', async () => {
    const page = await console_.open('/topics', { screen: 'phone' })
    await page.getByRole('button', { name: 'More' }).tap()
    await page.getByRole('menuitem', { name: 'Policies' }).tap()
    await page.getByRole('heading', { name: 'Policies' }).waitFor()
    await expectAccessibleInEachLook(page)
  })
})

test('what was said of before and after in the audit keeps its digits', async () => {
  const [{ id }] = await console_.sql<[{ id: string }]>`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id, before, after)
    values ('digits', 'admin', 'moon.land', 'moon', 'sea', '{"n":12345678901234567890.10}', '{"n":12345678901234567890.11}')
    returning id::text`
  const page = await console_.open(`/audit?actor=digits&open=${id}`)
  await page.getByText('12345678901234567890.10').waitFor()
  await page.getByText('12345678901234567890.11').waitFor()
  await page.getByText('moon.land').first().waitFor()
})

test('a group whose automatic retries are paused says why, and is resumed from its page', async () => {
  const { original, dlq } = await ownTopic('group-paused')
  const [{ group_id }] = await console_.sql<[{ group_id: string }]>`
    select group_id from dlq.dlq_messages where original_topic = ${original}`
  await console_.sql`
    insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at)
    values (${original}, ${group_id}, '20 of these came back', now() + interval '1 hour')`
  const page = await console_.open(`/groups?dlq_topic=${dlq}`)
  await page.getByRole('link', { name: 'retries paused' }).click()
  await page.getByText(`Automatic retries to ${original} are paused since`).waitFor()
  await page.getByText('20 of these came back').waitFor()
  await page.getByRole('button', { name: `Resume retries to ${original}…` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resume retries' }).click()
  await page.getByText(`Automatic retries to ${original} are paused since`).waitFor({ state: 'hidden' })
  expect(await ask('GET', `/groups/${group_id}`)).toMatchObject({ pauses: [] })
})

test('what a run has given up is taken back from its page', async () => {
  const { original } = await ownTopic('given-up')
  const selection = { filter: { topic: original } }
  const { id } = (await ask('POST', '/runs', { kind: 'dead', selection })) as { id: string }
  const page = await console_.open(`/runs/${id}`)
  await page.getByRole('link', { name: 'Take it back…' }).click()
  await page.getByRole('button', { name: 'Revive 1 message' }).click()
  await page.waitForURL((url) => /\/runs\/[0-9a-f-]{36}/.test(url.pathname) && !url.pathname.endsWith(id))
  await eventually(async () => {
    const [row] = await console_.sql`select status from dlq.dlq_messages where original_topic = ${original}`
    expect(row).toEqual({ status: 'PENDING' })
  })
})

test('a first visitor sees three hints, once, and paused updates are said above every page', async () => {
  const page = await console_.open('/')
  await page.getByText('Open the hottest group.').waitFor()
  await page.getByRole('button', { name: 'Understood' }).click()
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('p')
  await page.getByText('Live updates are paused: the page shows what was known').waitFor()
  expect(await page.getByText('Open the hottest group.').count()).toBe(0)
  await page.getByRole('button', { name: /^Go on/ }).click()
  await eventually(async () => expect(await page.getByText('Live updates are paused').count()).toBe(0))
})
