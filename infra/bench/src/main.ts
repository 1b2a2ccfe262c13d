// npm run bench: starts its own PostgreSQL and Kafka, then each named benchmark, each with a floor that is measured in
// the same call. README.md says how to read the figures.

import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { startStack } from 'dlq-testing/stack.ts'
import { benchApi } from './api/api-bench.ts'
import { benchMasks } from './api/mask-bench.ts'
import { benchUndecoded } from './api/undecoded-bench.ts'
import { benchDecode } from './decode/decode-bench.ts'
import { benchFormats, benchOrigins } from './ingest/format-bench.ts'
import { benchIngest } from './ingest/ingest-bench.ts'
import { type RecordKind, recordKinds } from './ingest/real-dead-letters.ts'
import type { BenchRun } from './measure/bench-run.ts'
import { benchPull } from './pull/pull-bench.ts'
import { benchErase } from './retry/erase-bench.ts'
import { benchProducer } from './retry/producer-bench.ts'
import { benchRefused } from './retry/refused-bench.ts'
import { benchRetry } from './retry/retry-bench.ts'
import { benchRuns } from './retry/run-bench.ts'
import { benchScale } from './scale/scale-bench.ts'
import { benchSize } from './size/size-bench.ts'
import { benchVerdicts } from './verdicts/verdict-bench.ts'
import { benchVersions } from './versions/versions-bench.ts'

const benches: Readonly<Record<string, (run: BenchRun) => Promise<void>>> = {
  decode: benchDecode,
  ingest: benchIngest,
  formats: benchFormats,
  origins: benchOrigins,
  retry: benchRetry,
  refused: benchRefused,
  producer: benchProducer,
  api: benchApi,
  masks: benchMasks,
  undecoded: benchUndecoded,
  runs: benchRuns,
  erase: benchErase,
  verdicts: benchVerdicts,
  pull: benchPull,
  scale: benchScale,
  size: benchSize,
  versions: benchVersions,
}
const names = Object.keys(benches)
/**
 * Run only when they are named: `size` takes half an hour and 40 GB, and its databases stay; `versions` needs a checkout;
 * `scale` takes ten minutes a round, and needs a machine that does nothing else.
 */
const onlyByName = ['size', 'versions', 'scale']

const usage = `usage: npm run bench [-- [${names.join('] [')}] [--quick] [--rounds N] [--only TEXT]… [--rows N] [--records KIND] [--against DIR]]
  --quick      small sizes: whether it works, not what it gives
  --rounds N   how often every variant is measured (3)
  --only TEXT  of the answers of the API, cases whose names hold it; more than once for more of them
  --rows N     of the benchmark size, which runs alone and only by its name: rows of the large database (23,000,000)
  --records KIND  of the benchmark versions: real (the default) or random dead letters; ingest measures both
  --against DIR  of the benchmark versions, which runs only by its name: the other checkout, with its dependencies installed
DATABASE_URL and KAFKA_BROKERS name servers to use instead of starting some.`

// The same as in services that restart themselves (run-service.ts).
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../../.dev/compile-cache', import.meta.url))

/** With these settings, filling a new table writes no WAL. */
const settingsOfSize = { wal_level: 'minimal', max_wal_senders: '0', shared_buffers: '1GB' }

process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (options === null) return 64
  const print = (line: string) => console.log(line)
  await using stack = new AsyncDisposableStack()
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  const keep = options.chosen.includes('size')
  const dataDir = fileURLToPath(new URL(`../../../.dev/bench${keep ? '-size' : ''}`, import.meta.url))
  if (!keep) rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true })
  const servers = stack.adopt(
    await startStack({
      dataDir,
      reaper,
      log: print,
      databaseUrl: process.env.DATABASE_URL,
      kafkaBrokers: process.env.KAFKA_BROKERS,
      // The API never talks to Kafka.
      withoutKafka: options.chosen.every((name) => ['api', 'masks', 'undecoded', 'verdicts', 'pull'].includes(name)),
      // A checkpoint in only one of the variants would decide the comparison.
      postgresSettings: { max_wal_size: '8GB', checkpoint_timeout: '30min', ...(keep && settingsOfSize) },
    }),
    (servers) => servers.stop({ discard: !keep }),
  )
  for (const name of options.chosen) {
    await benches[name]!({
      stack: servers,
      reaper,
      logDir: dataDir,
      print,
      quick: options.quick,
      rounds: options.rounds,
      only: options.only,
      rows: options.rows,
      records: options.records,
      against: options.against,
    })
    print('')
  }
  return 0
}

type Options = Pick<BenchRun, 'quick' | 'rounds' | 'only' | 'rows' | 'records' | 'against'> & { chosen: string[] }

function readOptions(): Options | null {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        rounds: { type: 'string' },
        only: { type: 'string', multiple: true },
        rows: { type: 'string' },
        records: { type: 'string' },
        against: { type: 'string' },
        help: { type: 'boolean' },
      },
    })
    const unknown = positionals.filter((name) => !names.includes(name))
    const rounds = Number(values.rounds ?? 3)
    const records = (values.records ?? 'real') as RecordKind
    const rows = Number(values.rows ?? 23_000_000)
    const chosen = positionals.length > 0 ? positionals : names.filter((name) => !onlyByName.includes(name))
    if (unknown.length > 0) console.error(`no such benchmark: ${unknown.join(', ')}`)
    else if (!Number.isInteger(rounds) || rounds < 1) console.error('--rounds must be a whole number from 1')
    else if (!Number.isInteger(rows) || rows < 10_000) console.error('--rows must be a whole number from 10,000')
    else if (!Object.hasOwn(recordKinds, records)) console.error(`--records must be one of ${Object.keys(recordKinds)}`)
    else if (chosen.includes('size') && chosen.length > 1) console.error('size runs alone')
    else if (chosen.includes('versions') && !values.against) console.error('versions needs --against DIR')
    else if (!values.help) {
      const against = values.against === undefined ? null : resolve(values.against)
      return { chosen, quick: values.quick ?? false, rounds, only: values.only ?? null, rows, records, against }
    }
  } catch (error) {
    console.error((error as Error).message)
  }
  console.error(usage)
  return null
}
