// How long the API takes to answer at fifty connections: saturated, and at an even rate below the machine's limit.
// A saturated measurement shows the latency of fifty clients in a queue; the even rate shows that of the API itself.

import autocannon from 'autocannon'
import { canonicalFilter, type MessageFilter } from 'dlq-core/domain/message/message-filter.ts'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { bindingOf, encodeCursor } from '../../../../services/api/src/lists/cursor.ts'
import { type BenchDatabase, type BenchRun, withBenchDatabase, withService } from '../measure/bench-run.ts'
import { cpuSecondsOf, peakMemoryMiB } from '../measure/process-usage.ts'
import { median } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'
import { groupCount, groupIdOf, storeApiRows, topicCount } from './api-rows.ts'
import { storeAround } from './around-rows.ts'
import { readCases } from './read-cases.ts'
import { type Case, loadSteadily } from './steady-load.ts'

export const connections = 50
const pageSize = 20
/** Requests per second of the measurements that are not saturated. */
const evenRate = 100
/** The rate for requests that read thousands of rows whatever they find. */
const scanRate = 1

/** Prints tables. */
export async function benchApi(run: BenchRun): Promise<void> {
  const total = run.quick ? 20_000 : 1_000_000
  await withBenchDatabase(run, async (database) => {
    run.print(`api: ${total} messages over ${topicCount} topics, ${connections} connections`)
    const startedAt = performance.now()
    await storeApiRows(database, total)
    await storeUnbounded(database)
    run.print(`  stored in ${formatNumber((performance.now() - startedAt) / 1000)} s`)
    const env = { DLQ_LOG_LEVEL: 'warn', DLQ_AUTH_RATE_LIMIT: '1000000', KAFKA_BROKERS: undefined }
    await withService(run, { name: 'api', databaseUrl: database.url, env }, async (service) => {
      await service.ready()
      const isWanted = (name: string) => run.only === null || run.only.some((text) => name.includes(text))
      const all = [...(await casesOf(database, total)), ...readCases(await someIds(database))]
      const cases = all.filter(({ name }) => isWanted(name))
      if (cases.length > 0) await benchLatency(run, service, cases)
      if (isWanted('export')) await benchExport(run, service, total)
    })
  })
}

/** On one connection, whose statements may take longer than a service's. */
async function storeUnbounded({ sql }: BenchDatabase): Promise<void> {
  const connection = await sql.reserve()
  try {
    await connection`set statement_timeout = 0`
    await storeAround(connection)
    await connection`reset statement_timeout`
  } finally {
    connection.release()
  }
}

async function benchLatency(run: BenchRun, service: ServiceProcess, cases: readonly Case[]): Promise<void> {
  const seconds = run.quick ? 1 : 5
  const rows: string[][] = []
  for (const { name, paths, rate = evenRate, streams = false } of cases) {
    if (streams) {
      const steady = await loadSteadily(service.url, paths, { seconds, rate, connections, streams })
      rows.push([
        name,
        '',
        '',
        '',
        formatNumber(rate),
        formatNumber(steady.p50, 1),
        formatNumber(steady.p99, 1),
        '',
        '',
      ])
      continue
    }
    // Every connection prepares its statements once.
    await shoot(service, paths, { seconds: 2 })
    const saturated: autocannon.Result[] = []
    const steady: { p50: number; p99: number }[] = []
    const cpu: { api: number; postgres: number }[] = []
    for (let round = 0; round < run.rounds; round += 1) {
      const before = cpuOf(run, service)
      const result = await shoot(service, paths, { seconds })
      const after = cpuOf(run, service)
      const perRequest = (from: number, to: number) => ((to - from) * 1000) / result.requests.total
      cpu.push({ api: perRequest(before.api, after.api), postgres: perRequest(before.postgres, after.postgres) })
      saturated.push(result)
      steady.push(await loadSteadily(service.url, paths, { seconds, rate, connections }))
    }
    const of = <T>(results: readonly T[], read: (result: T) => number) => formatNumber(median(results.map(read)), 1)
    rows.push([
      name,
      of(saturated, ({ requests }) => requests.average),
      of(saturated, ({ latency }) => latency.p50),
      of(saturated, ({ latency }) => latency.p99),
      formatNumber(rate),
      of(steady, ({ p50 }) => p50),
      of(steady, ({ p99 }) => p99),
      formatNumber(median(cpu.map(({ api }) => api)), 2),
      formatNumber(median(cpu.map(({ postgres }) => postgres)), 2),
    ])
  }
  const columns = [
    '',
    'saturated req/s',
    'p50 ms',
    'p99 ms',
    'even req/s',
    'p50 ms',
    'p99 ms',
    'API CPU ms',
    'PostgreSQL CPU ms',
  ]
  run.print(formatTable(columns, rows))
}

/** CPU seconds: the cost of requests, also where other programs use the machine. 0 where the system does not tell. */
function cpuOf({ stack }: BenchRun, { pid }: ServiceProcess) {
  return { api: cpuSecondsOf(pid) ?? 0, postgres: cpuSecondsOf(stack.postgres?.pid) ?? 0 }
}

async function shoot(
  { url }: ServiceProcess,
  paths: readonly string[],
  { seconds }: { seconds: number },
): Promise<autocannon.Result> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: paths.map((path) => ({ path })),
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${paths[0]}: ${result.non2xx} answers that are not 2xx, ${result.errors} errors`)
  return result
}

async function someIds({ sql }: Pick<BenchDatabase, 'sql'>): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from dlq.dlq_messages tablesample system (5) limit 100`
  return rows.map(({ id }) => id)
}

/** Many paths of each kind, so that the answers come from different rows. */
export async function casesOf({ sql }: BenchDatabase, total: number): Promise<Case[]> {
  const numbers = Array.from({ length: 100 }, (_, n) => n)
  const list = (name: string, query: (n: number) => string): Case => ({
    name,
    paths: numbers.map((n) => `/api/v1/messages?limit=${pageSize}&${query(n)}`),
  })
  // No index decides the whole filter: the API reads thousands of rows, for half a second at most.
  const scan = (name: string, query: (n: number) => string): Case => ({
    ...list(`${name} (bounded scan)`, query),
    rate: scanRate,
  })
  const ids = await someIds({ sql })
  const day = 86_400_000
  const at = (daysAgo: number) => new Date(Date.now() - daysAgo * day).toISOString()

  const deep = async (name: string, filter: MessageFilter, query: string, page: number): Promise<Case> => {
    const where = filter.status ? sql`where status = ${filter.status[0]!}` : sql``
    const [row] = await sql<{ id: string }[]>`
      select id from dlq.dlq_messages ${where} order by id desc offset ${page * pageSize - 1} limit 1`
    const binding = bindingOf(canonicalFilter(filter), 'newest')
    const cursor = encodeCursor(['f', row!.id], binding)
    return { name: `${name}, page ${page + 1}`, paths: [`/api/v1/messages?limit=${pageSize}${query}&cursor=${cursor}`] }
  }
  // Pages behind the first one, because the first also counts. These cost the same at both ends.
  const lastPage = Math.min(10_000, Math.floor(total / pageSize / 2)) - 1
  return [
    list('all, first page with its total', () => ''),
    await deep('all', {}, '', 1),
    await deep('all', {}, '', lastPage),
    await deep('status=RESOLVED', { status: ['RESOLVED'] }, '&status=RESOLVED', 1),
    await deep('status=RESOLVED', { status: ['RESOLVED'] }, '&status=RESOLVED', Math.floor(lastPage / 2)),
    list('topic', (n) => `topic=topic-${n}`),
    list('DLQ topic', (n) => `topic=topic-${n}.dlq.v1`),
    list('topic and status', (n) => `topic=topic-${n}&status=DEAD`),
    list('status=DEAD', () => 'status=DEAD'),
    list('group', (n) => `group_id=${groupIdOf(n * 5)}`),
    list('group and status', (n) => `group_id=${groupIdOf(n * 5)}&status=PENDING`),
    list('key', (n) => `key=customer-${n * 97}`),
    list('created from, to', (n) => `from=${at(50 - n / 4)}&to=${at(49 - n / 4)}`),
    list('topic, oldest', (n) => `topic=topic-${n}&sort=oldest`),
    list('topic, next due', (n) => `topic=topic-${n}&sort=next_due`),
    list('next due', () => 'sort=next_due'),
    scan('topic glob', (n) => `topic=topic-${n}?`),
    scan(
      'topic, consumer group and retries',
      (n) => `topic=topic-${n}&consumer_group=group-${n % 7}&retry_count_min=1`,
    ),
    { name: 'specified list, page 1', paths: numbers.map((n) => `/api/v1/dlq/topic-${n}`) },
    { name: 'specified list, page 100', paths: numbers.map((n) => `/api/v1/dlq/topic-${n}?page=100`) },
    { name: 'detail', paths: ids.map((id) => `/api/v1/dlq/messages/${id}`) },
    { name: 'topics', paths: ['/api/v1/topics?limit=20'] },
    { name: 'groups', paths: [`/api/v1/groups?limit=20`] },
    { name: 'one group', paths: numbers.map((n) => `/api/v1/groups/${groupIdOf((n * 5) % groupCount)}`) },
    { name: 'status', paths: ['/api/v1/status'] },
    scan('q, nothing found', () => 'q=no-such-text'),
    scan('payload, nothing found', () => 'payload={"order_id":"none"}'),
  ]
}

/** The memory of the service since its start, after all measurements above. */
async function benchExport(run: BenchRun, service: ServiceProcess, total: number): Promise<void> {
  const rows: string[][] = []
  for (const format of ['ndjson', 'csv']) {
    const startedAt = performance.now()
    const response = await fetch(`${service.url}/api/v1/messages/export?format=${format}`)
    let bytes = 0
    let lines = 0
    for await (const chunk of response.body!) {
      bytes += chunk.length
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
    }
    const seconds = (performance.now() - startedAt) / 1000
    const expected = format === 'csv' ? total + 1 : total
    if (lines !== expected) throw new Error(`the export as ${format} has ${lines} lines instead of ${expected}`)
    const figures = [total / seconds, bytes / seconds / 2 ** 20, peakMemoryMiB(service.pid)]
    rows.push([`export as ${format}`, ...figures.map((figure) => formatNumber(figure))])
  }
  run.print(formatTable(['', 'rows/s', 'MiB/s', 'peak MiB of the API'], rows))
}
