// "create index concurrently" of a partitioned table, which PostgreSQL refuses: the table's own index first, which is
// empty and not valid, then that of each partition concurrently. Once each has been attached, the index is valid. Where
// the table has another index of that name, the new one is built beside it and takes its place in one short transaction.

const names = String.raw`\w+(?:, *\w+)*`
const shape = new RegExp(String.raw`create index concurrently (\w+)\s+on (\w+\.\w+)\s+(\((${names})\).*)$`, 's')
const maxNameBytes = 63

type Query = <Row>(text: string, values: unknown[]) => Promise<Row[]>

/**
 * Runs `statement`, where that builds an index of a partitioned table, and returns true. It makes the index of the table
 * itself at once: a partition that is made later gets its own index by itself. Where a build was interrupted, it goes on
 * with the partitions that are left. False for any other statement, which it leaves alone.
 */
export async function indexEachPartition(query: Query, statement: string): Promise<boolean> {
  const found = shape.exec(statement)
  if (found === null) return false
  const [, name = '', table = '', definition = '', keys = ''] = found
  const [kind] = await query<{ relkind: string }>('select relkind from pg_class where oid = $1::regclass', [table])
  if (kind?.relkind !== 'p') return false
  const schema = table.split('.')[0]!
  const columns = keys.match(/\w+/g)!.join('_')
  // Locks of a moment. Who waits for one longer would hold up all who come later.
  await query(`set lock_timeout = '5s'`, [])
  const replaces = await makeOwnIndex(query, { schema, name, table, definition })
  const made = replaces ? newName(name) : name
  const left = () => listLeft(query, { table, index: `${schema}.${made}` })
  for (let [partition] = await left(); partition !== undefined; [partition] = await left()) {
    // As PostgreSQL itself names the indexes of partitions that are made later.
    const last = `${partition}_${columns}_idx`
    if (last.length > maxNameBytes) throw new Error(`${last}: longer than the ${maxNameBytes} bytes of a name`)
    const own = replaces ? newName(last) : last
    try {
      // Building waits for every transaction that is under way, as long as that takes.
      await query('set lock_timeout = 0', [])
      await query(`drop index concurrently if exists ${schema}.${own}`, [])
      await query(`create index concurrently ${own} on ${schema}.${partition} ${definition}`, [])
      await query(`set lock_timeout = '5s'`, [])
      await query(`alter index ${schema}.${made} attach partition ${schema}.${own}`, [])
    } catch (error) {
      // Services make and drop partitions meanwhile. One that was taken out and put back got its index there.
      if ((await left()).includes(partition)) throw error
      if (replaces) await query(`drop index concurrently if exists ${schema}.${own}`, [])
    }
  }
  if (replaces) await query(swapOf({ schema, name, columns }), [])
  await query('reset lock_timeout', [])
  return true
}

/** The table's partitions that have no part of the index yet. */
async function listLeft(query: Query, { table, index }: { table: string; index: string }): Promise<string[]> {
  const rows = await query<{ partition: string }>(
    `select c.relname as partition from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and not exists (
       select from pg_inherits attached join pg_index x on x.indexrelid = attached.inhrelid
       where attached.inhparent = $2::regclass and x.indrelid = c.oid)
     order by 1`,
    [table, index],
  )
  return rows.map(({ partition }) => partition)
}

/** The name of an index while the one that it replaces is still there. */
function newName(name: string): string {
  return name.replace(/(_idx)?$/, '_new')
}

/**
 * Makes the index of the table itself, unless it is there. Returns whether that takes the place of another one: then it
 * has its new name.
 */
async function makeOwnIndex(
  query: Query,
  { schema, name, table, definition }: { schema: string; name: string; table: string; definition: string },
): Promise<boolean> {
  const [old] = await query<{ definition: string | null }>('select pg_get_indexdef(to_regclass($1)) as definition', [
    `${schema}.${name}`,
  ])
  if (!old?.definition) {
    await query(`create index if not exists ${name} on only ${table} ${definition}`, [])
    return false
  }
  // PostgreSQL writes the same definition the same way, so two are compared as it writes them.
  const made = newName(name)
  await query(`create index if not exists ${made} on only ${table} ${definition}`, [])
  const [own] = await query<{ definition: string }>('select pg_get_indexdef($1::regclass) as definition', [
    `${schema}.${made}`,
  ])
  if (own!.definition.replace(` ${made} `, ` ${name} `) !== old.definition) return true
  await query(`drop index ${schema}.${made}`, [])
  return false
}

/**
 * Drops the former index and gives its name to the new one, and the names that PostgreSQL would have chosen to those of
 * the partitions, also of partitions that were made meanwhile. One string, and so one transaction.
 */
function swapOf({ schema, name, columns }: { schema: string; name: string; columns: string }): string {
  return `drop index ${schema}.${name};
    alter index ${schema}.${newName(name)} rename to ${name};
    do $$
    declare
        v_index record;
    begin
        for v_index in
            select own.relname as name, partition.relname || '_${columns}_idx' as wanted
            from pg_inherits i
            join pg_class own on own.oid = i.inhrelid
            join pg_index x on x.indexrelid = own.oid
            join pg_class partition on partition.oid = x.indrelid
            where i.inhparent = '${schema}.${name}'::regclass
        loop
            if v_index.name <> v_index.wanted then
                execute format('alter index ${schema}.%I rename to %I', v_index.name, v_index.wanted);
            end if;
        end loop;
    end;
    $$`
}
