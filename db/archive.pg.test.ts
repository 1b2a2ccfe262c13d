import { execFileSync } from 'node:child_process'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import postgres from 'postgres'
import { beforeEach, expect, test } from 'vitest'

const database = useDatabase()

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_messages_archive')
})

/** `count` messages that were not changed for `days` days. */
async function insertOld(
  count: number,
  { status, days, topic = 'orders.events.v1' }: { status: string; days: number; topic?: string },
) {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, status, retry_count, record_value, updated_at)
    select ${topic}, 'processing failed ' || n, ${status}, 3, convert_to('value ' || n, 'UTF8'), now() - ${days} * interval '1 day' + n * interval '1 us'
    from generate_series(1, ${count}) n`
}

/** Runs the statement on a separate connection and returns its notices. */
async function noticesOf(statement: string): Promise<string[]> {
  const notices: string[] = []
  const sql = postgres(database.url, {
    max: 1,
    connection: { lock_timeout: 60_000 },
    onnotice: ({ message }) => notices.push(message!),
  })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
  return notices
}

const idsOf = async (table: 'dlq_messages' | 'dlq_messages_archive') =>
  (await database.sql<{ id: string }[]>`select id from ${database.sql(`dlq.${table}`)} order by id`).map(({ id }) => id)

const statusesOf = async (table: 'dlq_messages' | 'dlq_messages_archive') =>
  (await database.sql`select error_message, status from ${database.sql(`dlq.${table}`)} order by 2, 1`).map(
    ({ status }) => status,
  )

test('without parameters, RESOLVED and DEAD messages older than thirty days are moved, and a notice counts them', async () => {
  for (const status of ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD']) {
    await insertOld(2, { status, days: 31 })
    await insertOld(1, { status, days: 29 })
  }
  const notices = await noticesOf('call dlq.archive_old_dlq_messages()')

  expect(notices).toEqual(['Archived 4 DLQ messages older than 30 days'])
  expect(await statusesOf('dlq_messages_archive')).toEqual(['DEAD', 'DEAD', 'RESOLVED', 'RESOLVED'])
  expect(await statusesOf('dlq_messages')).toEqual([
    'DEAD',
    'PENDING',
    'PENDING',
    'PENDING',
    'RESOLVED',
    'RETRYING',
    'RETRYING',
    'RETRYING',
  ])
})

test('the parameters of the specification’s example set retention and batch', async () => {
  await insertOld(7, { status: 'DEAD', days: 61 })
  await insertOld(7, { status: 'DEAD', days: 59 })
  const notices = await noticesOf('CALL dlq.archive_old_dlq_messages(p_retention_days := 60, p_batch_size := 3)')

  expect(notices).toEqual(['Archived 7 DLQ messages older than 60 days'])
  expect(await statusesOf('dlq_messages')).toHaveLength(7)
})

test('an archived message keeps every column', async () => {
  await insertOld(20, { status: 'RESOLVED', days: 40 })
  const before = await database.sql`select * from dlq.dlq_messages order by id`
  await noticesOf('call dlq.archive_old_dlq_messages()')
  const after = await database.sql`select * from dlq.dlq_messages_archive order by id`

  expect(after.map(({ archived_at, ...message }) => message)).toEqual([...before])
  expect(after.every(({ archived_at }) => Date.now() - archived_at.getTime() < 60_000)).toBe(true)
})

test.each(['messages', 'attempts'])('every column of the %s is moved, and moved back', async (what) => {
  const columnsOf = async (table: string) =>
    (
      await database.sql`
      select attname from pg_attribute where attrelid = ${`dlq.${table}`}::regclass and attnum > 0 and not attisdropped order by attnum
    `
    ).map(({ attname }) => attname)
  const columnsIn = async (routine: string, table: string) => {
    const [row] = await database.sql`select prosrc from pg_proc where oid = ${routine}::regprocedure`
    const list = new RegExp(`insert into dlq.${table} \\(([^)]*)\\)`).exec(row!.prosrc)![1]!
    return list.split(',').map((column) => column.trim())
  }

  const columns = await columnsOf(`dlq_${what}`)
  // In any order: a column that comes later stands behind "archived_at" there.
  expect((await columnsOf(`dlq_${what}_archive`)).toSorted()).toEqual([...columns, 'archived_at'].toSorted())
  expect(await columnsIn('dlq.archive_messages(uuid[], timestamptz, timestamptz)', `dlq_${what}_archive`)).toEqual([
    ...columns,
    'archived_at',
  ])
  expect(await columnsIn('dlq.restore_messages(uuid[])', `dlq_${what}`)).toEqual(columns)
})

test('of a message with two archived rows the newest comes back, and none where it was stored again', async () => {
  const { sql } = database
  await insertOld(1, { status: 'DEAD', days: 40 })
  const [id] = await idsOf('dlq_messages')
  const archive = (day: number) => sql`select dlq.archive_messages(array[${id!}::uuid], p_now => ${`2026-01-0${day}`})`
  const storeIn = (topic: string) => sql`
    insert into dlq.dlq_messages (id, original_topic, error_message, status) values (${id!}, ${topic}, 'failed', 'DEAD')`
  const restored = async () => (await sql`select dlq.restore_messages(array[${id!}::uuid]) as id`).map((row) => row.id)
  const topics = () => sql`select original_topic as topic from dlq.dlq_messages`
  await archive(1)
  await storeIn('again')
  await archive(2)

  expect(await restored()).toEqual([id])
  expect(await topics()).toMatchObject([{ topic: 'again' }])
  expect(await idsOf('dlq_messages_archive')).toEqual([])

  await archive(3)
  await storeIn('third')
  expect(await restored()).toEqual([])
  expect(await topics()).toMatchObject([{ topic: 'third' }])
})

test('a batch is a transaction, so its messages stay archived when a later batch fails', async () => {
  await insertOld(5, { status: 'DEAD', days: 40 })
  await database.sql`
    create function refuse_later_batches() returns trigger language plpgsql as $$
    begin
      if (select count(*) from dlq.dlq_messages_archive) > 2 then raise exception 'no more'; end if;
      return null;
    end $$`
  await database.sql`create trigger refuse after insert on dlq.dlq_messages_archive execute function refuse_later_batches()`
  try {
    await expect(noticesOf('call dlq.archive_old_dlq_messages(30, 2)')).rejects.toThrow('no more')
  } finally {
    await database.sql`drop function refuse_later_batches cascade`
  }
  expect([(await idsOf('dlq_messages')).length, (await idsOf('dlq_messages_archive')).length]).toEqual([3, 2])
})

test('two archivers and a session that takes messages back lose and double nothing', async () => {
  let archiving = true
  // Takes a slice back to RETRYING and holds it locked for a while, as a consumer of SQL would.
  const taken: string[] = []
  const takeBack = async () => {
    while (archiving) {
      await database.sql.begin(async (sql) => {
        const rows = await sql<{ id: string }[]>`
          update dlq.dlq_messages set status = 'RETRYING'
          where id in (select id from dlq.dlq_messages where status = 'RESOLVED' order by id desc limit 7)
          returning id`
        taken.push(...rows.map(({ id }) => id))
        await sql`select pg_sleep(0.002)`
      })
    }
  }
  const taking = takeBack()
  const notices: string[] = []
  let inserted = 0
  // Repeats where the archivers were so quick that the session could take hardly any message back.
  while (taken.length <= 20) {
    await insertOld(4000, { status: 'RESOLVED', days: 40 })
    inserted += 4000
    const calls = [1, 2].map(() => noticesOf('call dlq.archive_old_dlq_messages(30, 10)'))
    notices.push(...(await Promise.all(calls)).flat())
  }
  archiving = false
  await taking

  const [left, archived] = [await idsOf('dlq_messages'), await idsOf('dlq_messages_archive')]
  expect(new Set([...left, ...archived]).size).toBe(inserted)
  expect(left.length + archived.length).toBe(inserted)
  expect(taken.filter((id) => !left.includes(id))).toEqual([])
  expect(left.toSorted()).toEqual(taken.toSorted())
  const counted = notices.map((notice) => Number(/^Archived (\d+) /.exec(notice)![1]))
  expect(counted.reduce((sum, count) => sum + count)).toBe(archived.length)
})

test('a message that is locked is left for the next call', async () => {
  await insertOld(3, { status: 'DEAD', days: 40 })
  const [held] = await idsOf('dlq_messages')
  await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_messages where id = ${held!} for update`
    expect(await noticesOf('call dlq.archive_old_dlq_messages()')).toEqual([
      'Archived 2 DLQ messages older than 30 days',
    ])
  })
  expect(await idsOf('dlq_messages')).toEqual([held])
  expect(await noticesOf('call dlq.archive_old_dlq_messages()')).toEqual(['Archived 1 DLQ messages older than 30 days'])
})

test.each(['-1', '30, 0', '30, -5', 'null', '30, null', '2147483647'])(
  'the parameters (%s) are refused, and nothing is moved',
  async (parameters) => {
    await insertOld(1, { status: 'DEAD', days: 40 })
    await expect(noticesOf(`call dlq.archive_old_dlq_messages(${parameters})`)).rejects.toMatchObject({ code: '22023' })
    expect(await idsOf('dlq_messages_archive')).toEqual([])
  },
)

test('a retention of 0 days moves every settled message', async () => {
  await insertOld(3, { status: 'RESOLVED', days: 0 })
  expect(await noticesOf('call dlq.archive_old_dlq_messages(0)')).toEqual(['Archived 3 DLQ messages older than 0 days'])
})

test('the archive has a partition for this quarter and the next', async () => {
  const [row] =
    await database.sql`select dlq.create_archive_partitions() as again, dlq.create_archive_partitions(3) as further`
  expect(row).toEqual({ again: 0, further: 2 })
})

test('a quarter that four connections ask for at once is created once', async () => {
  const made = await Promise.all(
    [1, 2, 3, 4].map(async (day) => {
      const [row] = await database.sql`select dlq.create_archive_partition(${`2039-05-0${day}`}) as made`
      return row!.made
    }),
  )
  expect(made.filter(Boolean)).toHaveLength(1)
})

test('the program that a CronJob runs archives older messages, and prints how many', async () => {
  await insertOld(3, { status: 'DEAD', days: 61 })
  await insertOld(1, { status: 'DEAD', days: 59 })
  const archive = (...args: string[]) =>
    execFileSync(process.execPath, ['db/archive.ts', ...args], {
      encoding: 'utf8',
      env: { ...process.env, DATABASE_URL: database.url },
    })

  expect(archive('--retention-days=60', '--batch-size=2')).toBe('Archived 3 DLQ messages older than 60 days\n')
  expect(await statusesOf('dlq_messages')).toEqual(['DEAD'])
  expect(() => archive('--retention-days=all')).toThrow('usage: node db/archive.ts')
})
