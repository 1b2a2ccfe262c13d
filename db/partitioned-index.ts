// "create index concurrently" of a partitioned table, which PostgreSQL refuses: the table's own index first, which is
// empty and not valid, then that of each partition concurrently. Once each has been attached, the index is valid.

const shape = /create index concurrently (\w+)\s+on (\w+\.\w+)\s+(\((\w+(?:, *\w+)*)\).*)$/s
const maxNameBytes = 63

type Query = <Row>(text: string, values: unknown[]) => Promise<Row[]>

/**
 * The statements that take the place of `statement`, where that builds an index of a partitioned table. It makes the
 * index of the table itself at once: a partition that is made later gets its own index by itself. Where a build was
 * interrupted, it goes on with the partitions that are left. Null for any other statement.
 */
export async function indexEachPartition(query: Query, statement: string): Promise<string[] | null> {
  const found = shape.exec(statement)
  if (found === null) return null
  const [, name = '', table = '', definition = '', columns = ''] = found
  const [kind] = await query<{ relkind: string }>('select relkind from pg_class where oid = $1::regclass', [table])
  if (kind?.relkind !== 'p') return null
  // Locks of a moment. Who waits for one longer would hold up all who come later.
  await query(`set lock_timeout = '5s'`, [])
  await query(`create index if not exists ${name} on only ${table} ${definition}`, [])
  const schema = table.split('.')[0]!
  const left = await query<{ partition: string }>(
    `select c.relname as partition from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and not exists (
       select from pg_inherits attached join pg_index x on x.indexrelid = attached.inhrelid
       where attached.inhparent = $2::regclass and x.indrelid = c.oid)
     order by 1`,
    [table, `${schema}.${name}`],
  )
  const build = left.flatMap(({ partition }) => {
    // As PostgreSQL itself names the indexes of partitions that are made later.
    const own = `${partition}_${columns.replaceAll(/, */g, '_')}_idx`
    if (own.length > maxNameBytes) throw new Error(`${own}: longer than the ${maxNameBytes} bytes of a name`)
    return [
      // Building waits for every transaction that is under way, as long as that takes.
      'set lock_timeout = 0',
      `drop index concurrently if exists ${schema}.${own}`,
      `create index concurrently ${own} on ${schema}.${partition} ${definition}`,
      `set lock_timeout = '5s'`,
      `alter index ${schema}.${name} attach partition ${schema}.${own}`,
    ]
  })
  return [...build, 'reset lock_timeout']
}
