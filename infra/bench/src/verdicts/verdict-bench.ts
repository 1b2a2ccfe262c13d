// What verdicts cost: counting the attempts that a rise of a group's offsets concerns, and counting all verdicts of a
// run, beside a bare scan of the same range of the same index. Without Kafka.

import { countRises, type Rise } from 'dlq-core/queries/readers/count-verdicts.ts'
import { recordReaders } from 'dlq-core/queries/readers/reader-watch.ts'
import { countRunPart, type RunPlace } from 'dlq-core/queries/readers/verdicts.ts'
import { noRates } from '../../../../services/retrier/src/readers/reader-rates.ts'
import { type BenchDatabase, type BenchRun, settleDatabase, withBenchDatabase } from '../measure/bench-run.ts'
import { measureFloor } from '../measure/measure.ts'
import { formatVariants, type Variant } from '../measure/report.ts'

const topic = 'bench-orders'
const group = 'billing'
const partitions = 12
const runId = '01900000-0000-7000-8000-0000000000aa'
/** As the retrier counts after a look. */
const piece = { rises: 50, limit: 2000 }

/** Prints a table. */
export async function benchVerdicts(run: BenchRun): Promise<void> {
  const total = run.quick ? 60_000 : 3_000_000
  run.print(`verdicts: ${total.toLocaleString('en')} attempts of one run, in ${partitions} partitions`)
  const floor = variant('bare index scan')
  const rise = variant('a rise of offsets is counted')
  const recount = variant('the run is recounted')
  const postgresPid = run.stack.postgres?.pid
  await withBenchDatabase(run, async (database) => {
    await fill(database, total)
    for (let round = 1; round <= run.rounds; round++) {
      run.print(`  round ${round} of ${run.rounds}`)
      for (const [measured, work] of [
        [floor, () => scan(database)],
        [rise, () => countAll(database, total)],
        [recount, () => recountRun(database, total)],
      ] as const)
        measured.rounds.push(await measureFloor(work, { total, postgresPid }))
    }
  })
  run.print(formatVariants([floor, rise, recount], floor))
}

function variant(name: string): Variant & { rounds: Variant['rounds'][number][] } {
  return { name, rounds: [] }
}

async function fill(database: BenchDatabase, total: number): Promise<void> {
  const { sql } = database
  await sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`
      with messages as (
        insert into dlq.dlq_messages (original_topic, error_message, consumer_group, status, retry_count, next_retry_at)
        select ${topic}, 'processing failed', ${group}, 'RESOLVED', 1, null from generate_series(1, ${total}::int) n
        returning id
      )
      insert into dlq.dlq_attempts (
        message_id, number, attempt_id, outcome, run_id, target_topic, target_partition, target_offset, settled_at)
      select id, 1, gen_random_uuid(), 'published', ${runId}, ${topic}, n % ${partitions}, n / ${partitions}, now() - interval '1 h'
      from (select id, row_number() over () as n from messages) numbered`
  })
  const reader = { target_topic: topic, consumer_group: group }
  const end = BigInt(Math.ceil(total / partitions) + 1)
  await recordReaders(sql, {
    began_at: new Date().toISOString(),
    readers: [
      {
        ...{
          ...reader,
          type: 'classic',
          state: 'Stable',
          members: 1,
          has_commits: true,
          horizonMs: 150_000,
          rates: noRates,
        },
        partitions: Array.from({ length: partitions }, (_, partition) => ({
          ...{ ...reader, partition, committed_offset: end, log_start_offset: 0n, log_end_offset: end },
          ...{ passed_offset: end, settled_offset: 0n, marks: [{ below: end, at: Date.now() }] },
          ...{ is_rewound: false, gap: null },
        })),
      },
    ],
  })
  await sql.unsafe('vacuum analyze dlq.dlq_messages')
  await sql.unsafe('vacuum analyze dlq.dlq_attempts')
  await settleDatabase(database)
}

/** The same ranges, and nothing but the index's own columns. */
async function scan({ sql }: BenchDatabase): Promise<void> {
  await sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`set local enable_seqscan = off`
    for (let partition = 0; partition < partitions; partition += 1) {
      await sql`
        select count(*) from dlq.dlq_attempts
        where target_topic = ${topic} and target_partition = ${partition} and target_offset >= 0`
    }
  })
}

async function countAll({ sql }: BenchDatabase, total: number): Promise<void> {
  const end = BigInt(Math.ceil(total / partitions) + 1)
  let waiting = Array.from(
    { length: partitions },
    (_, partition): Rise => ({
      ...{ target_topic: topic, consumer_group: group, partition },
      ...{ verdict: 'passed', from: 0n, to: end, isFirst: false },
    }),
  )
  let counted = 0
  while (waiting.length > 0) {
    const some = waiting.slice(0, piece.rises)
    const found = await countRises(sql, { rises: some, limit: piece.limit })
    for (const { count } of found) counted += count
    waiting = found.flatMap(({ next }, n) => (next === null ? [] : [{ ...some[n]!, from: next }]))
  }
  if (counted !== total) throw new Error(`${counted} of ${total} attempts were counted`)
}

async function recountRun({ sql }: BenchDatabase, total: number): Promise<void> {
  let passed = 0
  for (let after: RunPlace | undefined; ; ) {
    const part = await countRunPart(sql, { runId, limit: 20_000, ...(after && { after }) })
    passed += part.counts.passed ?? 0
    if (part.next === null) break
    after = part.next
  }
  if (passed !== total) throw new Error(`${passed} of ${total} attempts were recounted`)
}
