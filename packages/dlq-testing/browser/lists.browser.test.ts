// What pages say before they know, and lists of what they do not show.

import { expect, test } from 'vitest'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'
import { insertMessageRow } from '../src/rows/message-rows.ts'

const console_ = useConsole()
const hour = 3_600_000

/** A message whose record has this time, stored now, that has failed again since. */
async function insertArrived(at: number, columns: Record<string, unknown>): Promise<string> {
  const time = at.toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`
  return insertMessageRow(console_.sql, { id, status: 'DEAD', failure_count: 2, ...columns })
}

test('nothing is said of runs and jobs before it is known', async () => {
  const page = await console_.open('/settings')
  let { promise: late, resolve: come } = Promise.withResolvers<void>()
  const asked: string[] = []
  await page.route(/\/api\/v1\/(me$|runs\?.*status=)/, async (route) => {
    asked.push(route.request().url())
    await late
    await route.continue()
  })
  const answered = page.waitForResponse(/\/api\/v1\/runs\?page=1/)
  await page.goto(`${console_.fleet.open}/console/runs`)
  await answered
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  const said = page.getByText(/(No run is|run is|runs are) active\./)
  await page.locator('main table').or(page.getByText('Drafts are links')).first().waitFor()
  expect(await said.count()).toBe(0)
  come()
  await said.waitFor()
  expect(asked.find((url) => url.includes('/runs?'))).toMatch(/cancelling/)
  ;({ promise: late, resolve: come } = Promise.withResolvers<void>())
  await page.goto(`${console_.fleet.open}/console/system`)
  await page.getByRole('heading', { name: 'Checks' }).waitFor()
  const refused = page.getByText('They are shown to tokens for all topics.')
  expect(await refused.count()).toBe(0)
  come()
  await page.getByRole('table', { name: 'Scheduled jobs' }).waitFor()
  expect(await refused.count()).toBe(0)
})

test('a press on a bar of the rail lists what it counts first, though that was stored later and failed again', async () => {
  const original_topic = 'browser-rail'
  const now = Date.now()
  await insertArrived(now - 5 * hour, { original_topic, error_message: 'an old one' })
  await insertArrived(now, { original_topic, error_message: 'a new one' })
  const page = await console_.open(`/messages?topic=${original_topic}`)
  await page.getByText('As numbers').click()
  const bar = page.getByRole('listitem').filter({ hasText: '1 arrived, 1 is DEAD' }).first()
  await bar.getByRole('button').click()
  await page.waitForURL(/arrived_to=/)
  await page.getByText('a new one').waitFor({ state: 'hidden' })
  await page.getByText('an old one').waitFor()
  await page.getByText('1 message matches.').waitFor()
  // What came after it stays in sight.
  await page.getByText('2 arrived, 2 of them are DEAD').waitFor()
})

test('a selection stays while one of the messages is looked at, and from all that are loaded leads to all that match', async () => {
  await console_.sql`
    insert into dlq.dlq_messages (original_topic, error_message, status)
    select 'browser-many', 'one of many', 'DEAD' from generate_series(1, 130)`
  const page = await console_.open('/messages?topic=browser-many')
  await page.getByText('130 messages match.').waitFor()
  const all = page.getByRole('button', { name: 'Select all 130 that match' })
  await page.getByRole('checkbox', { name: 'Select one of many' }).first().click({ force: true })
  await page.getByText('1 message selected').waitFor()
  expect(await all.count()).toBe(0)
  await page.getByRole('checkbox', { name: 'Select what is loaded' }).click({ force: true })
  await page.getByText('100 messages selected').waitFor()
  await page.getByRole('link', { name: 'one of many' }).first().click()
  await page.getByRole('link', { name: 'Back to the list' }).click()
  await page.getByText('100 messages selected').waitFor()
  await all.click()
  await page.getByText('All 130 that match:').waitFor()
  await page.getByRole('link', { name: 'Give up…' }).click()
  await page.waitForURL(/runs\/new/)
  expect(new URL(page.url()).searchParams.get('topic')).toBe('browser-many')
})

test('error groups have their titles in events, in the audit, in a draft and on Now', async () => {
  const original_topic = 'browser-titles'
  const row = (error_class: string) =>
    insertGroupedRow(console_, { original_topic, error_class, error_message: `${error_class} failed` })
  const ids = [await row('TitledFailure'), await row('OtherTitledFailure')]
  const groups = await console_.sql<{ id: string }[]>`
    select group_id as id from dlq.dlq_messages where id = any(${ids}::uuid[]) order by id`
  await console_.sql`
    insert into dlq.dlq_events (id, type, subject, severity, title, data, is_condition, at, group_id)
    select gen_random_uuid(), 'group.burst', 'group/' || id, 'warning', 'Fails often', '{}', false, now(), id::uuid
    from unnest(${groups.map(({ id }) => id)}::text[]) groups (id)`
  const answer = await fetch(`${console_.fleet.open}/api/v1/groups/${groups[0]!.id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ note: 'seen by a browser' }),
  })
  expect(answer.status).toBe(200)
  const page = await console_.open('/events')
  for (const name of ['TitledFailure', 'OtherTitledFailure'])
    await page.getByRole('row').filter({ hasText: 'Fails often' }).getByText(` · ${name}`).waitFor()
  await page.goto(`${console_.fleet.open}/console/audit?target_type=group&target_id=${groups[0]!.id}`)
  await page.getByRole('link', { name: /^“(Other)?TitledFailure/ }).waitFor()
  await page.goto(`${console_.fleet.open}/console/runs/new?kind=retry&topic=${original_topic}`)
  await page.getByText('By error group').waitFor()
  await page.getByRole('link', { name: /^TitledFailure/ }).waitFor()
  await page.getByRole('link', { name: /^OtherTitledFailure/ }).waitFor()
  // All that have a state are of all topics: the API wants to be told that this is meant.
  await page.goto(`${console_.fleet.open}/console/runs/new?kind=retry&status=DEAD&status=PENDING`)
  await page.getByRole('checkbox', { name: 'all topics' }).check({ force: true })
  await page.getByText('By error group').waitFor()
  await page.goto(`${console_.fleet.open}/console/`)
  await page.getByText('last 24 h · given up · waiting · last seen').waitFor()
})

test('of several groups that are triaged at once, the one that the API refused comes back and is told of', async () => {
  const original_topic = 'browser-triage'
  for (const error_class of ['KeptFailure', 'LeftFailure'])
    await insertGroupedRow(console_, { original_topic, error_class, error_message: `${error_class} of triage` })
  const page = await console_.open('/groups?q=of+triage')
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  await row('KeptFailure').waitFor()
  const { promise: late, resolve: answer } = Promise.withResolvers<void>()
  let asked = 0
  await page.route('**/api/v1/groups/*', async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback()
    asked += 1
    const isFirst = asked === 1
    await late
    return isFirst ? route.fulfill({ status: 503, json: {} }) : route.fallback()
  })
  await row('KeptFailure').getByRole('link').first().focus()
  await page.keyboard.press('d')
  await row('KeptFailure').waitFor({ state: 'hidden' })
  await page.keyboard.press('d')
  await row('LeftFailure').waitFor({ state: 'hidden' })
  answer()
  await page.getByText(/^Not changed: KeptFailure/).waitFor()
  await row('KeptFailure').waitFor()
  expect(await row('LeftFailure').count()).toBe(0)
})

test('a key that is held triages one group, and not all that come after it', async () => {
  const original_topic = 'browser-held'
  for (const error_class of ['FirstHeldFailure', 'SparedHeldFailure', 'LastHeldFailure'])
    await insertGroupedRow(console_, { original_topic, error_class, error_message: `${error_class} of holding` })
  const page = await console_.open('/groups?q=of+holding')
  const rows = page.locator('[data-group-row]')
  await eventually(async () => expect(await rows.count()).toBe(3))
  let changes = 0
  page.on('request', (request) => {
    if (request.method() === 'PATCH') changes += 1
  })
  for (let n = 0; n < 3; n++) await page.keyboard.down('d')
  await page.keyboard.up('d')
  await eventually(async () => expect(await rows.count()).toBe(2))
  await page.getByText('Resolved; it comes back by itself').waitFor()
  expect(changes).toBe(1)
})

test('what is pressed while the list of another filter is on its way selects nothing of the one before', async () => {
  for (const original_topic of ['browser-before', 'browser-after'])
    await insertMessageRow(console_.sql, { original_topic, status: 'DEAD', error_message: `of ${original_topic}` })
  const page = await console_.open('/messages?topic=browser-before')
  await page.getByText('of browser-before').waitFor()
  const { promise: late, resolve: come } = Promise.withResolvers<void>()
  await page.route(/\/api\/v1\/messages\?.*browser-after/, async (route) => {
    await late
    await route.continue()
  })
  await page
    .getByRole('textbox', { name: 'Filter' })
    .or(page.getByRole('combobox', { name: 'Filter' }))
    .fill('topic:browser-after')
  await page.keyboard.press('Enter')
  await page.waitForURL(/browser-after/)
  await page.getByRole('checkbox', { name: 'Select what is loaded' }).click({ force: true })
  come()
  await page.getByText('of browser-after').waitFor()
  await page.getByText('All 1 that match:').waitFor()
  expect(await page.getByText('1 message selected').count()).toBe(0)
})

test('what is typed into a filter stands as it is typed, also within what stands there; a topic is taken that is not offered', async () => {
  const page = await console_.open('/audit')
  const who = page.getByRole('textbox', { name: 'Who' })
  await who.fill('maria')
  await page.waitForURL(/actor=maria/)
  await who.press('Home')
  await who.press('ArrowRight')
  await who.pressSequentially('XYZ')
  await page.waitForURL(/actor=mXYZaria/)
  expect(await who.inputValue()).toBe('mXYZaria')
  await page.getByRole('link', { name: 'Policies', exact: true }).click()
  const topic = page.getByRole('combobox', { name: 'Topic' })
  await topic.fill('browser-not-there')
  await topic.press('Enter')
  await page.waitForURL(/topic=browser-not-there/)
})

test('what is said of topics is asked for again while the page is open', async () => {
  const page = await console_.open('/settings')
  await page.clock.install()
  await page.getByRole('link', { name: 'Topics', exact: true }).click()
  await page.getByText(/ read\. /).waitFor()
  const again = page.waitForResponse('**/api/v1/status')
  await page.clock.fastForward(6000)
  await again
  const original_topic = 'browser-asked-again'
  await insertMessageRow(console_.sql, { original_topic, consumer_group: 'billing' })
  await page.goto(`${console_.fleet.open}/console/topics/${original_topic}`)
  await page.getByRole('table', { name: 'Consumer groups that failed' }).getByText('billing').waitFor()
  await insertMessageRow(console_.sql, { original_topic, consumer_group: 'shipping' })
  await page.clock.fastForward(61_000)
  await page.getByRole('table', { name: 'Consumer groups that failed' }).getByText('shipping').waitFor()
})

test('the messages of a run are listed to their end', async () => {
  const id = await insertMessageRow(console_.sql, { original_topic: 'browser-run-items', status: 'DEAD' })
  const answer = await fetch(`${console_.fleet.open}/api/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'retry', selection: { ids: [id] } }),
  })
  const run = (await answer.json()) as { id: string }
  await console_.sql`
    insert into dlq.dlq_run_skipped (run_id, message_id, reason)
    select ${run.id}, gen_random_uuid(), 'dead' from generate_series(1, 204)`
  const page = await console_.open(`/runs/${run.id}?outcome=skipped`)
  const more = page.getByRole('button', { name: 'More of them' })
  const links = page.locator('#items a[href*="/messages/"]')
  await more.waitFor()
  expect(await links.count()).toBe(200)
  await more.click()
  await links.nth(203).waitFor()
  await more.waitFor({ state: 'detached' })
})

test('the row that the keys have come to is in sight, below the bar on top, and is opened by Enter', async () => {
  const original_topic = 'browser-rows-by-keys'
  for (let n = 0; n < 24; n++) await insertMessageRow(console_.sql, { original_topic, error_message: 'one of many' })
  const page = await console_.open(`/messages?topic=${original_topic}`)
  await page.setViewportSize({ width: 640, height: 450 })
  await page.getByText('24 messages match.').waitFor()
  for (let n = 0; n < 20; n++) await page.keyboard.press('j')
  for (let n = 0; n < 15; n++) await page.keyboard.press('k')
  await page.locator('tr[data-current=true][aria-rowindex="7"]').waitFor()
  const isInSight = `(() => {
    const row = document.querySelector('tr[data-current=true]')
    const { left, top, height } = row.getBoundingClientRect()
    return row.contains(document.elementFromPoint(left + 40, top + height / 2))
  })()`
  expect(await page.evaluate(isInSight)).toBe(true)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'one of many', level: 1 }).waitFor()
})

test('a list of the archive offers what can be done with archived messages, and no other', async () => {
  const original_topic = 'browser-archive'
  const failed = { original_topic, error_class: 'ArchivedFailure', error_message: 'old' }
  const id = await insertGroupedRow(console_, { ...failed, status: 'DEAD', next_retry_at: null })
  await console_.sql`select dlq.archive_messages(array[${id}]::uuid[])`
  // What is archived is never due: the API refuses this order of it.
  const page = await console_.open(`/messages?topic=${original_topic}&archived=true&sort=next_due`)
  await page.getByText('All 1 that match:').waitFor()
  const offered = page.getByRole('group', { name: 'What can be done with them' }).getByRole('link')
  expect(await offered.allTextContents()).toEqual(['Retry…', 'Restore…', 'Purge…'])
  // A run that sends looks for messages that are named one by one among the live ones.
  await page.keyboard.press('x')
  await page.getByText('1 message selected:').waitFor()
  expect(await offered.allTextContents()).toEqual(['Restore…', 'Purge…'])
  await offered.filter({ hasText: 'Restore…' }).click()
  await page.getByRole('button', { name: 'Restore 1 message' }).click()
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/)
  const runId = new URL(page.url()).pathname.split('/').at(-1)!
  const [run] = await console_.sql`select kind, matched::int from dlq.dlq_runs where id = ${runId}`
  expect(run).toEqual({ kind: 'restore', matched: 1 })
})
