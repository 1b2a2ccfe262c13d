import { randomUUID } from 'node:crypto'
import { insertMessageRow } from 'dlq-testing/message-rows.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { expect, test } from 'vitest'

const database = useDatabase()

/** An id whose time is `time`; the rest is random. */
function idOf(time: string | number): string {
  const hex = new Date(time).getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`
}

async function partitionOf(id: string): Promise<string | undefined> {
  const [row] = await database.sql`select tableoid::regclass::text as partition from dlq.dlq_messages where id = ${id}`
  return row?.partition
}

async function countPartitions(): Promise<number> {
  const [row] =
    await database.sql`select count(*)::int as count from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass`
  return row!.count
}

async function ensure(id: string): Promise<boolean> {
  const [row] = await database.sql`select dlq.ensure_message_partition(${id}) as made`
  return row!.made
}

test('this month and the next three have a partition each, and there is no default one', async () => {
  const rows = await database.sql`
    select relname, pg_get_expr(relpartbound, pg_class.oid) as bound
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = 'dlq.dlq_messages'::regclass`
  const now = new Date()
  const months = [0, 1, 2, 3].map((ahead) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))
    return `dlq_messages_${month.toISOString().slice(0, 7).replace('-', '_')}`
  })

  expect(rows.map(({ relname }) => relname).toSorted()).toEqual(
    [...months, 'dlq_messages_first', 'dlq_messages_last'].toSorted(),
  )
  expect(rows.filter(({ bound }) => bound === 'DEFAULT')).toEqual([])
})

test('the default id is a UUIDv7 of this moment', async () => {
  const before = Date.now()
  const id = await insertMessageRow(database.sql)

  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  expect(time).toBeGreaterThanOrEqual(before - 1000)
  expect(time).toBeLessThanOrEqual(Date.now() + 1000)
  expect(await partitionOf(id)).toBe(`dlq.dlq_messages_${new Date(time).toISOString().slice(0, 7).replace('-', '_')}`)
})

test('partitions that are there are not made again', async () => {
  const before = await countPartitions()
  const [row] = await database.sql`select dlq.create_message_partitions() as made`

  expect(row!.made).toBe(0)
  expect(await countPartitions()).toBe(before)
})

test('further months are made when they come nearer, once', async () => {
  const make = async () => (await database.sql`select dlq.create_message_partitions(6) as made`)[0]!.made

  expect([await make(), await make()]).toEqual([3, 0])
})

test('an id of a month that has no partition is refused, and goes in after that was made', async () => {
  const id = idOf('2039-07-14T12:00:00Z')
  await expect(insertMessageRow(database.sql, { id })).rejects.toThrow(/no partition of relation/)

  expect([await ensure(id), await ensure(id)]).toEqual([true, false])
  await insertMessageRow(database.sql, { id })
  expect(await partitionOf(id)).toBe('dlq.dlq_messages_2039_07')
})

test('the first and the last millisecond of a month lie in its partition', async () => {
  for (const time of ['2041-02-01T00:00:00.000Z', '2041-02-28T23:59:59.999Z']) {
    const id = idOf(time)
    await ensure(id)
    await insertMessageRow(database.sql, { id })
    expect(await partitionOf(id)).toBe('dlq.dlq_messages_2041_02')
  }
})

test('a partition that four connections ask for at once is made once', async () => {
  const before = await countPartitions()
  const made = await Promise.all([1, 2, 3, 4].map((day) => ensure(idOf(`2039-11-0${day}T00:00:00Z`))))

  expect(made.filter(Boolean)).toHaveLength(1)
  expect(await countPartitions()).toBe(before + 1)
})

test('a partition can be made while a transaction that has inserted is open', async () => {
  await database.sql.begin(async (sql) => {
    await sql`insert into dlq.dlq_messages (original_topic, error_message) values ('orders.events.v1', 'open')`
    expect(await ensure(idOf('2040-01-01T00:00:00Z'))).toBe(true)
  })
})

test.each([
  ['of the epoch', () => idOf(0), 'dlq.dlq_messages_first'],
  ['of long ago', () => idOf('2004-05-06'), 'dlq.dlq_messages_first'],
  ['of the year 2100', () => idOf('2100-01-01'), 'dlq.dlq_messages_last'],
  ['of the year 9999', () => idOf('9999-12-31T23:59:59.999Z'), 'dlq.dlq_messages_last'],
  ['that is the greatest of all', () => `ffffffff-ffff-7${randomUUID().slice(15)}`, 'dlq.dlq_messages_last'],
  ['that is a random UUIDv4', () => `9${randomUUID().slice(1)}`, 'dlq.dlq_messages_last'],
])('an id %s goes in as it is, and needs no partition of its own', async (_, makeId, partition) => {
  const id = makeId()
  const before = await countPartitions()
  await insertMessageRow(database.sql, { id })

  expect(await partitionOf(id)).toBe(partition)
  expect(await ensure(id)).toBe(false)
  expect(await countPartitions()).toBe(before)
})

test('an update sets updated_at in every partition, one made later included', async () => {
  const id = idOf('2039-12-01T00:00:00Z')
  await ensure(id)
  await insertMessageRow(database.sql, { id, updated_at: new Date(0) })
  await database.sql`update dlq.dlq_messages set error_message = 'again' where id = ${id}`

  const [row] =
    await database.sql`select updated_at > now() - interval '1 minute' as fresh from dlq.dlq_messages where id = ${id}`
  expect(row!.fresh).toBe(true)
})

test('a partition made later has the indexes and constraints of the table', async () => {
  await ensure(idOf('2042-03-01T00:00:00Z'))
  const shapeOf = (partition: string) => database.sql`
    select regexp_replace(pg_get_indexdef(indexrelid), '.* USING', '') as shape from pg_index where indrelid = ${`dlq.${partition}`}::regclass
    union all
    select pg_get_constraintdef(oid) from pg_constraint where conrelid = ${`dlq.${partition}`}::regclass and contype <> 'n'
    order by 1`

  expect([...(await shapeOf('dlq_messages_2042_03'))]).toEqual([...(await shapeOf('dlq_messages_first'))])
})

test('wide columns are compressed by lz4 in every partition, where the server has it', async () => {
  await ensure(idOf('2042-04-01T00:00:00Z'))
  const [server] = await database.sql`
    select 'lz4' = any(enumvals) as "hasLz4" from pg_settings where name = 'default_toast_compression'`
  const rows = await database.sql`
    select distinct attcompression::text as compression
    from pg_attribute
    where attname in ('payload', 'record_key', 'record_value', 'record_headers', 'error_message', 'error_stacktrace')
      and attrelid in (
        select relid from pg_partition_tree('dlq.dlq_messages')
        union all select relid from pg_partition_tree('dlq.dlq_messages_archive'))`

  expect(rows.map(({ compression }) => compression)).toEqual([server!.hasLz4 ? 'l' : ''])
})
