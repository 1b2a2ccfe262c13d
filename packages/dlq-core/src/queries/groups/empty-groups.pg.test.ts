// Groups whose messages are all gone: what they forget, and when it comes back.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { fingerprint } from '../../domain/grouping/error-fingerprint.ts'
import { smallestId } from '../../domain/record/message-id.ts'
import { deleteMessages } from '../change/delete-messages.ts'
import { archiveMessages } from '../upkeep/archive.ts'
import { admitGroups, touchGroups } from './admit-groups.ts'
import { forgetEmptyGroups } from './empty-groups.ts'
import { listGroups } from './group-list.ts'
import { changeGroup, getGroup } from './groups.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topic = 'orders.dlq.v1'
const group = fingerprint({ errorClass: 'NoCredit', errorMessage: 'Jane Doe has no credit', errorStacktrace: null })
const { id } = group
const before = new Date('2100-01-01')

beforeEach(async () => {
  await emptyTables(
    database.sql,
    ...['dlq.dlq_group_topics', 'dlq.dlq_groups', 'dlq.dlq_messages', 'dlq.dlq_messages_archive'],
  )
  await admitGroups(service.sql, [{ topic, group }])
  await changeGroup(service.sql, {
    ...{ id, dlqTopics: [topic], state: 'ignored', snoozedUntil: null },
    ...{ owner: 'maria', note: 'Jane called' },
  })
})

const insert = (columns = {}) => insertMessageRow(database.sql, { group_id: id, dlq_topic: topic, ...columns })
const unseen = () => database.sql`update dlq.dlq_groups set last_seen_at = now() - interval '3 hours'`
const forget = async () => (await forgetEmptyGroups(service.sql, { after: smallestId, limit: 100 })).forgotten
const texts = async () => JSON.stringify(await getGroup(service.sql, { id, scope: null }))
const remove = (messageId: string, archived: boolean) =>
  service.sql.begin((sql) => deleteMessages(sql, { ids: [messageId], archived }))

test('a group without any message left forgets its texts and its note, and keeps its state', async () => {
  const message = await insert()
  await unseen()
  expect(await forget()).toBe(0)
  expect(await texts()).toContain('Jane')
  await remove(message, false)
  expect(await forget()).toBe(1)
  expect(await texts()).not.toMatch(/Jane|NoCredit/)
  expect(await getGroup(service.sql, { id, scope: null })).toMatchObject({
    state: 'ignored',
    owner: 'maria',
    note: null,
  })
  const listed = await listGroups(service.sql, { filter: {}, scope: null, after: null, limit: 10 })
  expect(listed).toEqual([])
  const [row] =
    await database.sql`select g::text || t::text as all from dlq.dlq_groups g join dlq.dlq_group_topics t on group_id = id`
  expect(row!.all).not.toMatch(/Jane|NoCredit/)
  expect(await forget()).toBe(0)
})

test('has its texts again as soon as the failure is back', async () => {
  await unseen()
  await forget()
  await admitGroups(service.sql, [{ topic: 'other.dlq.v1', group }])
  expect(await getGroup(service.sql, { id, scope: null })).toMatchObject({
    title: group.title,
    error_class: 'NoCredit',
  })
  expect(await forget()).toBe(0)
})

test('a group that was seen lately forgets nothing: who stores may be about to use it', async () => {
  expect(await forget()).toBe(0)
  await unseen()
  await touchGroups(service.sql, [{ topic, group_id: id }])
  await forget()
  expect(await texts()).toContain('Jane')
})

test('archived messages count as long as they are there', async () => {
  const [first, second] = [await insert({ status: 'DEAD' }), await insert({ status: 'DEAD' })]
  await archiveMessages(service.sql, { ids: [first, second], before, now: new Date() })
  await unseen()
  await forget()
  expect(await texts()).toContain('Jane')
  await remove(first, true)
  await forget()
  expect(await texts()).toContain('Jane')
  await remove(second, true)
  await forget()
  expect(await texts()).not.toContain('Jane')
})

test('a group whose quarter of the archive was dropped forgets, whatever was archived since', async () => {
  const old = await insert({ status: 'DEAD' })
  const past = new Date(Date.now() - 86_400_000 * 10)
  await archiveMessages(service.sql, { ids: [old], before, now: past })
  await database.sql`truncate dlq.dlq_messages_archive`
  const later = await insert({ group_id: null, status: 'DEAD' })
  await archiveMessages(service.sql, { ids: [later], before, now: new Date() })
  await unseen()
  await forget()
  expect(await texts()).not.toContain('Jane')
})

test('groups are looked at piece by piece', async () => {
  await unseen()
  const [{ examinedTo }, second] = [
    await forgetEmptyGroups(service.sql, { after: smallestId, limit: 1 }),
    await forgetEmptyGroups(service.sql, { after: smallestId, limit: 3 }),
  ]
  expect(examinedTo).toEqual(expect.any(String))
  expect(second.examinedTo).toBeNull()
  expect(await texts()).not.toContain('Jane')
})
