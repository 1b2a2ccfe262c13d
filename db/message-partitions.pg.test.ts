import { randomUUID } from 'node:crypto'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const database = useDatabase()

/** An id whose time is `time`; the rest is random. */
function idOf(time: string | number | Date): string {
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

test('the default id is a UUIDv7 of the present time', async () => {
  const before = Date.now()
  const id = await insertMessageRow(database.sql)

  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
  expect(time).toBeGreaterThanOrEqual(before - 1000)
  expect(time).toBeLessThanOrEqual(Date.now() + 1000)
  expect(await partitionOf(id)).toBe(`dlq.dlq_messages_${new Date(time).toISOString().slice(0, 7).replace('-', '_')}`)
})

test('existing partitions are not created again', async () => {
  const before = await countPartitions()
  const [row] = await database.sql`select dlq.create_message_partitions() as made`

  expect(row!.made).toBe(0)
  expect(await countPartitions()).toBe(before)
})

test('later months are created once, when they come near', async () => {
  const make = async () => (await database.sql`select dlq.create_message_partitions(6) as made`)[0]!.made

  expect([await make(), await make()]).toEqual([3, 0])
  await database.sql`select dlq.create_message_partitions()`
})

test('rows of every partition are written lightly, also of those that are made later', async () => {
  const heavy = async () =>
    (
      await database.sql`
        select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = 'dlq.dlq_messages'::regclass and (reloptions is null or not 'toast_tuple_target=1024' = any(reloptions))`
    ).map(({ relname }) => relname)
  await database.sql`select dlq.create_message_partitions(4)`

  expect(await heavy()).toEqual([])
  await database.sql`select dlq.create_message_partitions()`
})

test('indexes of every partition whose entries differ leave them apart, also of those that are made later', async () => {
  await database.sql`select dlq.create_message_partitions(4)`
  const rows = await database.sql<{ parent: string; apart: number; together: number }[]>`
    select parent.relname as parent,
           count(*) filter (where 'deduplicate_items=off' = any(child.reloptions))::int as apart,
           count(*) filter (where child.reloptions is null)::int as together
    from pg_index i
    join pg_class parent on parent.oid = i.indexrelid
    join pg_inherits on inhparent = parent.oid
    join pg_class child on child.oid = inhrelid
    where i.indrelid = 'dlq.dlq_messages'::regclass
    group by 1 order by 1`
  const partitions = await countPartitions()

  const isApart = (name: string) => /_(record_key|group_id|original_topic)$/.test(name)
  expect(rows.filter(({ parent }) => isApart(parent))).toHaveLength(3)
  for (const { parent, apart, together } of rows)
    expect({ parent, apart, together }).toEqual(
      isApart(parent) ? { parent, apart: partitions, together: 0 } : { parent, apart: 0, together: partitions },
    )
  await database.sql`select dlq.create_message_partitions()`
})

/** The first day of the month that is `ahead` months after that of `now`. */
function monthFrom(now: Date, ahead: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))
}

const nameOf = (month: Date) => `dlq_messages_${month.toISOString().slice(0, 7).replace('-', '_')}`

/** Years later, with the empty months dropped: only the present ones are there. */
async function dropOldMonths(...aheads: number[]): Promise<void> {
  for (const ahead of aheads)
    await database.sql`drop table ${database.sql(`dlq.${nameOf(monthFrom(new Date(), ahead))}`)}`
}

describe('of months that were dropped', () => {
  // The month of the test itself stays.
  const middle = () => idOf(monthFrom(new Date(), 2).getTime() + 86_400_000)

  beforeEach(() => dropOldMonths(1, 2, 3))
  afterEach(async () => {
    await database.sql`delete from dlq.dlq_messages`
    await database.sql`drop table if exists ${database.sql(`dlq.${nameOf(monthFrom(new Date(), 1))}`)}`
    await database.sql`select dlq.create_message_partitions()`
  })

  test('an id is refused, and goes in after one partition was made for the whole gap', async () => {
    const id = middle()
    await expect(insertMessageRow(database.sql, { id })).rejects.toThrow(/no partition of relation/)

    expect([await ensure(id), await ensure(id)]).toEqual([true, false])
    await insertMessageRow(database.sql, { id })
    expect(await partitionOf(id)).toBe(`dlq.${nameOf(monthFrom(new Date(), 1))}`)
    for (const time of [monthFrom(new Date(), 1).getTime(), monthFrom(new Date(), 4).getTime() - 1])
      expect(await partitionOf(await insertMessageRow(database.sql, { id: idOf(time) }))).toBe(await partitionOf(id))
  })

  test('a partition that four connections ask for at once is made once', async () => {
    const before = await countPartitions()
    const made = await Promise.all([1, 2, 3, 4].map(() => ensure(middle())))

    expect(made.filter(Boolean)).toHaveLength(1)
    expect(await countPartitions()).toBe(before + 1)
  })

  test('a partition can be made while a transaction that has inserted is open', async () => {
    await database.sql.begin(async (sql) => {
      await sql`insert into dlq.dlq_messages (original_topic, error_message) values ('orders.events.v1', 'open')`
      expect(await ensure(middle())).toBe(true)
    })
  })

  test('an update sets updated_at in every partition, one made later included', async () => {
    const id = middle()
    await ensure(id)
    await insertMessageRow(database.sql, { id, updated_at: new Date(0) })
    await database.sql`update dlq.dlq_messages set error_message = 'again' where id = ${id}`

    const [row] =
      await database.sql`select updated_at > now() - interval '1 minute' as fresh from dlq.dlq_messages where id = ${id}`
    expect(row!.fresh).toBe(true)
  })
})

describe('a month that was detached by hand', () => {
  const month = monthFrom(new Date(), 2)
  const name = nameOf(month)
  const id = () => idOf(month.getTime() + 86_400_000)

  beforeEach(async () => {
    await insertMessageRow(database.sql, { id: id() })
    await database.sql`alter table dlq.dlq_messages detach partition ${database.sql(`dlq.${name}`)}`
  })
  afterEach(async () => {
    await database.sql`delete from dlq.dlq_messages`
    await database.sql`drop table if exists ${database.sql(`dlq.${name}`)}, ${database.sql(`dlq.${name}_2`)}`
    await database.sql`select dlq.create_message_partitions()`
  })

  test.each([
    ['a record of it comes', () => ensure(id())],
    [
      'it is made ahead',
      async () => (await database.sql`select dlq.create_message_partitions() as made`)[0]!.made === 1,
    ],
  ])('and stayed under its name has another partition once %s, and keeps its rows', async (_, make) => {
    expect([await make(), await make()]).toEqual([true, false])
    expect(await partitionOf(await insertMessageRow(database.sql, { id: id() }))).toBe(`dlq.${name}_2`)
    expect(await database.sql`select from ${database.sql(`dlq.${name}`)}`).toHaveLength(1)
  })
})

test('messages come back from the archive into a month that is being dropped', async () => {
  const { sql } = database
  const month = monthFrom(new Date(), 3)
  const id = idOf(month.getTime() + 86_400_000)
  await insertMessageRow(sql, { id, status: 'DEAD' })
  await sql`select dlq.archive_messages(array[${id}]::uuid[])`
  await sql`vacuum (truncate) ${sql(`dlq.${nameOf(month)}`)}`
  const restoring = await sql.begin(async (dropping) => {
    const [row] = await dropping`select dlq.drop_empty_month(${`dlq.${nameOf(month)}`}::regclass) as dropped`
    expect(row!.dropped).toBe(true)
    const restoring = sql`select dlq.restore_messages(array[${id}]::uuid[]) as id`.execute()
    await untilWaitingForLock(database)
    return { restoring }
  })
  expect([...(await restoring.restoring)]).toEqual([{ id }])
  expect(await partitionOf(id)).toBe(`dlq.${nameOf(month)}`)
  await sql`delete from dlq.dlq_messages`
})

describe('the overflow partition', () => {
  afterEach(async () => {
    await database.sql`delete from dlq.dlq_messages`
    await database.sql`select dlq.create_message_partitions()`
  })

  test('gives one partition to all months before the present ones, and none where they have no message', async () => {
    const make = async (now: string) =>
      (await database.sql`select dlq.create_message_partitions(3, ${now}) as made`)[0]!.made
    const before = await countPartitions()
    expect(await make('2060-01-15')).toBe(4)
    await database.sql`select dlq.create_message_partitions()`
    expect(await countPartitions()).toBe(before)

    const ids = [idOf('2050-01-05'), idOf('2055-01-05'), idOf('2060-02-05'), idOf('2070-01-05')]
    for (const id of ids) await insertMessageRow(database.sql, { id })
    expect(await make('2060-01-15')).toBe(5)
    const [first, second, ...later] = await Promise.all(ids.map(partitionOf))
    expect([first, ...later]).toEqual([second, 'dlq.dlq_messages_2060_02', 'dlq.dlq_messages_last'])
    expect(first).not.toBe('dlq.dlq_messages_last')
  })

  test('takes 860 months to come, and no partition is made', async () => {
    const before = await countPartitions()
    for (let ahead = 4; ahead < 864; ahead++) {
      const id = idOf(monthFrom(new Date(), ahead))
      expect(await ensure(id)).toBe(false)
      await insertMessageRow(database.sql, { id })
    }
    expect(await countPartitions()).toBe(before)
    const rows = await database.sql`select distinct tableoid::regclass::text as name from dlq.dlq_messages`
    expect(rows.map(({ name }) => name)).toEqual(['dlq.dlq_messages_last'])
  })

  test('is split as time comes: each message is in its month then, and is counted once', async () => {
    const months = [4, 5, 6, 40].map((ahead) => monthFrom(new Date(), ahead))
    const ids = await Promise.all(months.map((month) => insertMessageRow(database.sql, { id: idOf(month) })))
    const counts = () => database.sql`
      select status, sum(n)::int as n from (
        select status, count as n from dlq.dlq_summary union all select status, change from dlq.dlq_summary_deltas) counted
      group by 1 having sum(n) <> 0`
    const before = await counts()
    const [made] = await database.sql`select dlq.create_message_partitions(3, ${monthFrom(new Date(), 2)}) as made`

    expect(made!.made).toBe(2)
    expect(await Promise.all(ids.map(partitionOf))).toEqual([
      ...months.slice(0, 2).map((month) => `dlq.${nameOf(month)}`),
      'dlq.dlq_messages_last',
      'dlq.dlq_messages_last',
    ])
    expect([...(await counts())]).toEqual([...before])
    // Somebody whose clock is right gives the months back.
    await database.sql`select dlq.create_message_partitions()`
    expect(new Set(await Promise.all(ids.map(partitionOf)))).toEqual(new Set(['dlq.dlq_messages_last']))
    expect([...(await counts())]).toEqual([...before])
  })

  test('has the triggers of the table after it was split', async () => {
    await database.sql`select dlq.create_message_partitions(3, ${monthFrom(new Date(), 1)})`
    const id = await insertMessageRow(database.sql, { id: idOf('2080-01-01'), updated_at: new Date(0) })
    await database.sql`update dlq.dlq_messages set error_message = 'again' where id = ${id}`
    const [row] = await database.sql`
      select updated_at > now() - interval '1 minute' as fresh from dlq.dlq_messages where id = ${id}`
    expect(row!.fresh).toBe(true)
  })

  test('is left as it is where it cannot be locked at once', async () => {
    await database.sql.begin(async (sql) => {
      await sql`insert into dlq.dlq_messages (original_topic, error_message) values ('orders.events.v1', 'open')`
      await expect(
        database.sql`select dlq.create_message_partitions(3, ${monthFrom(new Date(), 1)})`,
      ).rejects.toMatchObject({ code: '55P03' })
    })
  })
})

test.each([
  ['of the epoch', () => idOf(0), 'dlq.dlq_messages_first'],
  ['of long ago', () => idOf('2004-05-06'), 'dlq.dlq_messages_first'],
  ['of the year 2039', () => idOf('2039-07-14T12:00:00Z'), 'dlq.dlq_messages_last'],
  ['of the year 2100', () => idOf('2100-01-01'), 'dlq.dlq_messages_last'],
  ['of the year 9999', () => idOf('9999-12-31T23:59:59.999Z'), 'dlq.dlq_messages_last'],
  ['that is the greatest of all', () => `ffffffff-ffff-7${randomUUID().slice(15)}`, 'dlq.dlq_messages_last'],
  ['that is a random UUIDv4', () => `9${randomUUID().slice(1)}`, 'dlq.dlq_messages_last'],
])('an id %s is stored unchanged, and needs no partition for its month', async (_, makeId, partition) => {
  const id = makeId()
  const before = await countPartitions()
  await insertMessageRow(database.sql, { id })

  expect(await partitionOf(id)).toBe(partition)
  expect(await ensure(id)).toBe(false)
  expect(await countPartitions()).toBe(before)
})

test('a partition made later has the indexes and constraints of the table', async () => {
  await database.sql`select dlq.create_message_partitions(5)`
  const shapeOf = (partition: string) => database.sql`
    select regexp_replace(pg_get_indexdef(indexrelid), '.* USING', '') as shape from pg_index where indrelid = ${`dlq.${partition}`}::regclass
    union all
    select pg_get_constraintdef(oid) from pg_constraint where conrelid = ${`dlq.${partition}`}::regclass and contype <> 'n'
    order by 1`

  expect([...(await shapeOf(nameOf(monthFrom(new Date(), 5))))]).toEqual([...(await shapeOf('dlq_messages_first'))])
})

test('wide columns are compressed by lz4 in every partition, where the server has it', async () => {
  await database.sql`select dlq.create_message_partitions(6)`
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

test('a month that is dropped takes everything with it that other tables say of its messages', async () => {
  const { sql } = database
  const monthMs = 31 * 86_400_000
  const [dropped, kept] = [await insertMessageRow(sql, { id: idOf(Date.now() + monthMs) }), await insertMessageRow(sql)]
  const month = await partitionOf(dropped)
  expect(await partitionOf(kept)).not.toBe(month)
  const tables = await sql<{ name: string; columns: string[]; values: string[] }[]>`
    select table_name as name, array_agg(quote_ident(column_name::text)) as columns,
           array_agg(case when column_name = 'message_id' then '$1' when data_type = 'uuid' then 'gen_random_uuid()'
                          when data_type = 'ARRAY' then '''{}''' when data_type = 'bytea' then '''x''' when data_type = 'integer' then '1'
                          else 'gen_random_uuid()::text' end) as values
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'dlq' and table_type = 'BASE TABLE' and is_nullable = 'NO' and column_default is null
      and (column_name = 'message_id' or table_name in (
        select c.table_name from information_schema.columns c where c.table_schema = 'dlq' and c.column_name = 'message_id'))
      -- What is archived has partitions of its own, and a run that erases ends without the message.
      and table_name !~ '^dlq_attempts_archive' and table_name <> 'dlq_erase_items'
    group by 1`
  expect(tables.length).toBeGreaterThan(8)
  const checks = await sql`
    select conrelid::regclass::text as table, conname as name from pg_constraint
    where contype = 'c' and conrelid = any(${tables.map(({ name }) => `dlq.${name}`)}::regclass[])`
  for (const { table, name } of checks) await sql.unsafe(`alter table ${table} drop constraint ${name}`)
  for (const id of [dropped, kept])
    await sql.begin(async (sql) => {
      await sql`set local session_replication_role = replica`
      for (const { name, columns, values } of tables) {
        const of = values.join(', ').replace('$1', `'${id}'`)
        await sql.unsafe(`insert into dlq.${name} (${columns.join(', ')}) values (${of})`)
      }
    })
  await sql`select dlq.drop_message_partition(${month!}::text::regclass)`
  for (const { name } of tables) {
    const rows = await sql.unsafe(`select message_id from dlq.${name}`)
    expect(
      rows.map((row) => row.message_id),
      name,
    ).toEqual([kept])
  }
})
