// The error groups of dead letters that applications stored by SQL.
import { fingerprint } from 'dlq-core/domain/grouping/error-fingerprint.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { groupUngrouped } from './group-ungrouped.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_policies'))

const groups = () =>
  database.sql`
    select m.error_class, m.group_id, g.title from dlq.dlq_messages m left join dlq.dlq_groups g on g.id = m.group_id
    order by m.error_class, m.id`

test('a dead letter by SQL gets the group of the same failure of a consumer, and another error gets another group', async () => {
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  await database.sql`
    select dlq.dead_letter('orders', '{}', 'item ' || n || ' is gone', case when n < 3 then 'Gone' else 'Late' end, p_retry_after => '0')
    from generate_series(1, 3) n`
  // Two retriers at once share the work.
  const passes = await Promise.all([groupUngrouped(service), groupUngrouped(service)])
  expect(passes[0]!.grouped + passes[1]!.grouped).toBe(3)
  expect(await groupUngrouped(service)).toEqual({ more: false, grouped: 0 })

  const { id } = fingerprint({ errorClass: 'Gone', errorMessage: 'item 7 is gone', errorStacktrace: null })
  const [one, two, late] = await groups()
  expect([one!.group_id, two!.group_id, one!.title]).toEqual([id, id, expect.stringContaining('Gone')])
  expect(late!.group_id).not.toBe(id)
  const topics = await database.sql`select dlq_topic from dlq.dlq_group_topics where group_id = ${id}`
  expect([...topics]).toEqual([{ dlq_topic: 'orders' }])

  const [claimed] = await database.sql`select id, lease_token from dlq.claim_messages('orders', 1)`
  const fail = (error: string) =>
    database.sql`select dlq.fail_message(${claimed!.id}, ${claimed!.lease_token}, ${error}, 'Broken')`
  await fail('broken')
  expect((await groups())[0]).toMatchObject({ error_class: 'Broken', group_id: null })
  // For erasures: that group may have a text of the message.
  const noted = database.sql`select number, outcome, failed_groups from dlq.dlq_attempts where message_id = ${claimed!.id}`
  expect([...(await noted)]).toEqual([{ number: 1, outcome: 'failed', failed_groups: [id] }])
  expect(await groupUngrouped(service)).toMatchObject({ grouped: 1 })
  expect((await groups())[0]).toMatchObject({ title: expect.stringContaining('Broken') })
})

const frames = (lines: number, type: string) => `\tat ${type}.step(Step.java:1)\n`.repeat(lines)
const outer = `a.Outer: failed\n${frames(10, 'org.springframework.Handler')}`

test.each([
  [
    'in the middle of a long trace',
    `${outer}${frames(1000, 'java.lang.Thread')}Caused by: a.Root: gone\n${frames(700, 'com.acme.Orders')}`,
  ],
  [
    'at the end of one',
    `${outer}${frames(1000, 'java.lang.Thread')}Caused by: a.Root: gone\n${frames(1, 'com.acme.Orders')}`,
  ],
  [
    'too far from the end of one',
    `${outer}${frames(1000, 'java.lang.Thread')}Caused by: a.Root: gone\n${frames(9000, 'com.acme.Orders')}`,
  ],
  ['that no line names', `${frames(1000, 'java.lang.Thread')}${frames(5, 'com.acme.Orders')}`],
  ['within what is read of any trace', `${outer}Caused by: a.Root: gone\n${frames(3, 'com.acme.Orders')}`],
  ['that one long line would hide', 'x'.repeat(30_000)],
])('a cause %s is read as that of a consumer’s failure is', async (_, trace) => {
  await database.sql`select dlq.dead_letter('orders', '{}', 'failed', 'a.Outer', ${trace})`
  await groupUngrouped(service)
  const { id } = fingerprint({ errorClass: 'a.Outer', errorMessage: 'failed', errorStacktrace: trace })
  expect((await groups())[0]!.group_id).toBe(id)
})
