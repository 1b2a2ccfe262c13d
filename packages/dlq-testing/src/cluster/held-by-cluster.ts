// What a fleet on three brokers holds: memory and files of each process, connections to PostgreSQL, and the disks. Looked
// at again and again, it says whether anything grows while everything is killed.
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { type HeldByProcess, heldBy } from '../process/held-by-process.ts'
import { type ClusterFleet, members } from './cluster-fleet.ts'

export type HeldByCluster = {
  /** Name → what it holds; a process that was just killed is left out. */
  services: ReadonlyMap<string, HeldByProcess>
  brokers: ReadonlyMap<string, HeldByProcess>
  /** `application_name` → connections to PostgreSQL. */
  connections: ReadonlyMap<string, number>
  rows: number
  databaseMiB: number
  walMiB: number
  /** Of all three brokers together. */
  brokersMiB: number
  /** What the services have logged. */
  logsMiB: number
}

/** Looks at all of it, with the API among the services. Waits for PostgreSQL where it is just away. */
export async function heldByCluster({
  fleet,
  cluster,
  sql,
  dataDir,
}: Pick<ClusterFleet, 'fleet' | 'cluster' | 'sql' | 'dataDir'>): Promise<HeldByCluster> {
  const ofDatabase = await eventually(async () => {
    const connections = await sql<{ name: string; connections: number }[]>`
      select application_name as name, count(*)::int as connections from pg_stat_activity
       where backend_type = 'client backend' and application_name like 'dlq-%' group by 1 order by 1`
    const [sizes] = await sql<{ rows: number; database: number; wal: number }[]>`
      select (select count(*)::int from dlq.dlq_messages) as rows,
             pg_database_size(current_database())::float8 as database,
             (select coalesce(sum(size), 0)::float8 from pg_ls_waldir()) as wal`
    return { connections, ...sizes! }
  })
  return {
    services: held([...members, 'api'].map((name) => [name, fleet.get(name).pid])),
    brokers: held(cluster.nodes.map(({ id, pid }) => [`broker ${id}`, pid])),
    connections: new Map(ofDatabase.connections.map(({ name, connections }) => [name, connections])),
    rows: ofDatabase.rows,
    databaseMiB: mebibytes(ofDatabase.database),
    walMiB: mebibytes(ofDatabase.wal),
    brokersMiB: mebibytes(bytesBelow(`${dataDir}/cluster`)),
    logsMiB: mebibytes([...members, 'api'].reduce((sum, name) => sum + bytesBelow(`${dataDir}/${name}.log`), 0)),
  }
}

const mebibytes = (bytes: number) => Math.round(bytes / 1024 / 1024)

function held(processes: readonly [string, number][]): Map<string, HeldByProcess> {
  const found = processes.map(([name, pid]) => [name, heldBy(pid)] as const)
  return new Map(found.filter((entry): entry is [string, HeldByProcess] => entry[1] !== null))
}

/** On the disk, as `du` counts: Kafka's index files are long and almost empty. Zero where there is nothing. */
function bytesBelow(path: string): number {
  try {
    const found = lstatSync(path)
    if (!found.isDirectory()) return found.blocks * 512
    return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0)
  } catch {
    return 0 // Deleted meanwhile.
  }
}
