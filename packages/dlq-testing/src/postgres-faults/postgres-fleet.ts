// A primary with a standby of its own, and a fleet that reaches it by two addresses: half of the services by each, so
// that a test can leave one half with a primary that is none any more.

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { migrateUp } from 'dlq-db/migrate.ts'
import postgres from 'postgres'
import { mountSmallDisk } from '../cluster/cluster-faults.ts'
import { createFleet, type Fleet } from '../fleet/service-fleet.ts'
import type { ServiceName } from '../fleet/service-process.ts'
import { type RunningPostgres, startPostgres } from '../postgres/postgres.ts'
import { type Address, openAddress } from '../process/address.ts'
import { createReaper } from '../process/reaper.ts'
import { startStandby, waitForStandby } from './standby.ts'

/** How the standby follows; null: there is none. */
export type Replication = 'asynchronous' | 'synchronous' | null

/** What is on a small disk. */
export type OnSmallDisk = 'all' | 'wal' | null

export type PostgresFleet = {
  fleet: Fleet
  /** Asks whichever server the first address leads to. */
  sql: postgres.Sql
  /** The addresses of the two halves of the services. */
  addresses: readonly [Address, Address]
  /** By which the standby reaches its primary. */
  link: Address
  /** The file system of the primary alone, or of its WAL alone, where it has one. */
  smallDisk: string | null
  primaryLog: string
  primary(): RunningPostgres
  standby(): RunningPostgres
  restartPrimary(): Promise<void>
  logDir: string
}

export type PostgresFleetOptions = {
  dataDir: string
  brokers: string[]
  dlq: string
  consumerGroup: string
  replication: Replication
  /** Puts the primary, or its WAL alone, onto a small file system of its own, where this process may mount one. */
  onSmallDisk: OnSmallDisk
  retryDelayMs: number
}

const diskMebibytes = 400
export const maxConnections = 90
export const halves: readonly [ServiceName, string, 0 | 1][] = [
  ['ingester', 'ingester-1', 0],
  ['retrier', 'retrier-1', 0],
  ['api', 'api', 0],
  ['ingester', 'ingester-2', 1],
  ['retrier', 'retrier-2', 1],
]

/** Everything it opens is adopted by `opened`. */
export async function openPostgresFleet(
  opened: AsyncDisposableStack,
  { dataDir, brokers, dlq, consumerGroup, replication, onSmallDisk, retryDelayMs }: PostgresFleetOptions,
): Promise<PostgresFleet> {
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  const disk = `${dataDir}/disk`
  mkdirSync(disk, { recursive: true })
  const unmount = onSmallDisk ? mountSmallDisk(disk, diskMebibytes) : null
  if (unmount) opened.defer(unmount)
  const primaryDir = `${onSmallDisk === 'wal' ? dataDir : disk}/primary`
  const settings = {
    ...{ fsync: 'off', shared_buffers: '64MB', max_connections: String(maxConnections) },
    ...{ wal_keep_size: '128MB', max_wal_size: '96MB', min_wal_size: '32MB' },
  }
  let primary = await startPostgres({ dataDir: primaryDir, reaper, settings })
  opened.defer(() => primary.stop())
  if (onSmallDisk === 'wal') {
    await primary.stop()
    moveFolder(`${primaryDir}/pg_wal`, `${disk}/pg_wal`)
    primary = await startPostgres({ dataDir: primaryDir, reaper, settings, port: primary.port })
  }
  await migrateUp({ databaseUrl: primary.url })

  const link = opened.use(await openAddress(primary.port))
  const addresses = [opened.use(await openAddress(primary.port)), opened.use(await openAddress(primary.port))] as const
  const [first, second] = addresses.map(({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`) as [
    string,
    string,
  ]
  const connect = () => postgres(first, { max: 2, onnotice: () => {} })
  const sql = opened.adopt(connect(), (sql) => sql.end({ timeout: 5 }))
  let standby: RunningPostgres | undefined
  if (replication !== null) {
    const of = { primaryDir, dataDir: `${dataDir}/standby`, primaryPort: link.port, reaper, settings }
    standby = opened.adopt(await startStandby(sql, of), (standby) => standby.stop())
    if (replication === 'synchronous') await waitForStandby(sql)
  }

  const fleet = createFleet({
    ...{ databaseUrl: first, kafkaBrokers: brokers, reaper, topicPattern: dlq, consumerGroup, logDir: dataDir },
    env: { DLQ_RETRY_INITIAL_DELAY: `${retryDelayMs}ms`, DLQ_RETRY_LEASE: '10s', DLQ_RETRY_BATCH_SIZE: '100' },
  })
  opened.adopt(fleet, (fleet) => fleet.stop())
  const started = await Promise.all(
    halves.map(([name, instance, half]) => fleet.start(name, instance, { DATABASE_URL: half === 0 ? first : second })),
  )
  await Promise.all(started.map((service) => service.ready()))
  return {
    ...{ fleet, sql, addresses, link, logDir: dataDir, smallDisk: unmount ? disk : null },
    primaryLog: `${primaryDir}.log`,
    primary: () => primary,
    standby() {
      if (!standby) throw new Error('this primary has no standby')
      return standby
    },
    async restartPrimary() {
      const { port } = primary
      await primary.stop()
      primary = await startPostgres({ dataDir: primaryDir, reaper, settings, port })
    },
  }
}

/** Leaves a link behind. To another file system, with owners and modes. */
function moveFolder(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to])
  rmSync(from, { recursive: true })
  symlinkSync(to, from)
}
