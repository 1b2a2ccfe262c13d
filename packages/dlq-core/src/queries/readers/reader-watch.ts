// dlq_readers and their partitions: what consumer groups have read of the topics that messages are sent to. One
// retrier at a time looks; readers of these tables need no Kafka.

import { type Sql, toJson } from '../sql.ts'
import { hasUnstored } from './unstored-topics.ts'

/**
 * Takes the look that is due, for one retrier: the next one is due after `everyMs`. Returns when it began, as text with
 * microseconds; null where none is due.
 */
export async function takeLook(sql: Sql, { everyMs }: { everyMs: number }): Promise<string | null> {
  const [row] = await sql<{ began_at: string }[]>`
    update dlq.dlq_reader_watch set look_due_at = clock_timestamp() + ${everyMs}::float8 * interval '1 ms'
    where look_due_at <= clock_timestamp()
    returning clock_timestamp()::text as began_at`
  return row?.began_at ?? null
}

/** Somebody waits for an answer: makes the next look due `withinMs` after the last one at the latest. */
export async function askForLook(sql: Sql, { withinMs }: { withinMs: number }): Promise<void> {
  await sql`
    update dlq.dlq_reader_watch set look_due_at = coalesce(looked_at, now()) + ${withinMs}::float8 * interval '1 ms'
    where look_due_at > coalesce(looked_at, now()) + ${withinMs}::float8 * interval '1 ms'`
}

/**
 * Begins to store what a look has found; until the transaction ends, no other look does. Returns when the look before
 * began, whichever retrier made it. Null where a look that began later was stored already: this one took long, or its
 * process was frozen, and what it found would say that groups have gone back and that topics are new.
 */
export async function noteLook(
  sql: Sql,
  { began_at }: { began_at: string },
): Promise<{ before: string | null } | null> {
  const [row] = await sql<{ before: string | null }[]>`
    with last as materialized (select looked_at from dlq.dlq_reader_watch for update)
    update dlq.dlq_reader_watch set looked_at = ${began_at}::text::timestamptz
    from last where last.looked_at is null or last.looked_at <= ${began_at}::text::timestamptz
    returning last.looked_at::text as before`
  return row ?? null
}

/** The topics that attempts were published to, by a loose index scan, at most `limit`. */
export async function listTargetTopics(sql: Sql, { limit }: { limit: number }): Promise<string[]> {
  const rows = await sql<{ target_topic: string }[]>`
    with recursive walk as (
      (select target_topic from dlq.dlq_attempts where target_offset is not null order by target_topic limit 1)
      union all
      select next.target_topic from walk cross join lateral (
        select a.target_topic from dlq.dlq_attempts a
        where a.target_offset is not null and a.target_topic > walk.target_topic
        order by a.target_topic limit 1
      ) next
    )
    select target_topic from walk limit ${limit}`
  return rows.map(({ target_topic }) => target_topic)
}

export type Reader = { target_topic: string; consumer_group: string }

/** The groups that have failed on records of these topics, and those that were seen to read them. */
export async function listExpectedReaders(sql: Sql, topics: readonly string[]): Promise<Reader[]> {
  return sql<Reader[]>`
    select original_topic as target_topic, consumer_group from dlq.dlq_summary_totals
    where original_topic = any(${sql.array([...topics])}::text[]) and consumer_group is not null
    union
    select target_topic, consumer_group from dlq.dlq_readers
    where target_topic = any(${sql.array([...topics])}::text[])`
}

/** Below this offset everything had been read at this time (ms since 1970). */
export type Mark = { below: bigint; at: number }

export type ReaderPartition = Reader & {
  partition: number
  committed_offset: bigint | null
  log_start_offset: bigint
  log_end_offset: bigint
  passed_offset: bigint
  settled_offset: bigint
  marks: Mark[]
}

/** Records a second; `at` are ms since 1970. */
export type ReaderRates = {
  per_second: number | null
  best_per_second: number | null
  best_at: number | null
  produced_per_second: number | null
  measured_from: { at: number; read: number; written: number } | null
}

export type KnownReader = Reader & { state: string; rates: ReaderRates; partitions: ReaderPartition[] }

/** What earlier looks have found. */
export async function listReaders(sql: Sql, topics: readonly string[]): Promise<KnownReader[]> {
  const names = sql.array([...topics])
  const readers = await sql<(Reader & { state: string; rates: string })[]>`
    select target_topic, consumer_group, state,
           json_build_object(
             'per_second', per_second, 'best_per_second', best_per_second, 'produced_per_second', produced_per_second,
             'best_at', (extract(epoch from best_at) * 1000)::float8, 'measured_from', measured_from)::text as rates
    from dlq.dlq_readers where target_topic = any(${names}::text[])`
  const partitions = await sql<(Omit<ReaderPartition, 'marks'> & { marks: string })[]>`
    select target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset,
           passed_offset, settled_offset,
           (select coalesce(json_agg(json_build_object(
              'below', mark.below::text, 'at', (extract(epoch from mark.at) * 1000)::float8) order by mark.below), '[]')
            from json_to_recordset(marks) as mark (below bigint, at timestamptz)) as marks
    from dlq.dlq_reader_partitions where target_topic = any(${names}::text[])`
  const ofReader = Map.groupBy(partitions, keyOf)
  return readers.map((reader) => ({
    ...reader,
    rates: JSON.parse(reader.rates) as ReaderRates,
    partitions: (ofReader.get(keyOf(reader)) ?? []).map((row) => ({ ...row, marks: readMarks(row.marks) })),
  }))
}

export const keyOf = ({ target_topic, consumer_group }: Reader) => JSON.stringify([target_topic, consumer_group])

function readMarks(json: string): Mark[] {
  return (JSON.parse(json) as { below: string; at: number }[]).map(({ below, at }) => ({ below: BigInt(below), at }))
}

/** Within which time 99 of 100 re-failures of a topic and group came. */
export type Refailing = Reader & { p99_ms: number }

/** Of the re-failures of the last day, newest first, by topic and group with at least `least`. */
export async function listRefailTimes(
  sql: Sql,
  { least, limit }: { least: number; limit: number },
): Promise<Refailing[]> {
  return sql<Refailing[]>`
    select a.target_topic, m.consumer_group,
           percentile_cont(0.99) within group (
             order by greatest(0, extract(epoch from a.failed_again_at - a.settled_at)) * 1000) as p99_ms
    from (select message_id, target_topic, settled_at, failed_again_at from dlq.dlq_attempts
          where failed_again_at > now() - interval '1 day'
          order by failed_again_at desc limit ${limit}) a
    join dlq.dlq_messages m on m.id = a.message_id
    where a.settled_at is not null and m.consumer_group is not null
    group by a.target_topic, m.consumer_group
    having count(*) >= ${least}`
}

/**
 * Until when (ms since 1970) every dead letter of these topics' records is stored, or null where that is not known now:
 * each DLQ topic that has dead letters of the topic was looked at and is stored up to its end of then. `lookMs`: how
 * long a look may have taken.
 */
export async function listStoredUntil(
  sql: Sql,
  { topics, lookMs }: { topics: readonly string[]; lookMs: number },
): Promise<Map<string, number | null>> {
  const rows = await sql<{ topic: string; until_ms: number | null }[]>`
    with related as (
      select distinct wanted.topic as original_topic, t.cluster, t.topic, t.looked_at
      from unnest(${sql.array([...topics])}::text[]) as wanted (topic)
      join dlq.dlq_topics t on t.gone_at is null and (
        exists (select from dlq.dlq_summary_totals s where s.original_topic = wanted.topic and s.dlq_topic = t.topic)
        -- Where no DLQ topic of it is known, it may be any.
        or not exists (select from dlq.dlq_summary_totals s where s.original_topic = wanted.topic and s.dlq_topic is not null))
    )
    select original_topic as topic, min(extract(epoch from looked_at) * 1000)::float8 - ${lookMs}::float8 as until_ms
    from related r
    group by original_topic
    having bool_and(looked_at is not null and not ${hasUnstored(sql, 'r')})`
  return new Map(rows.map(({ topic, until_ms }) => [topic, until_ms]))
}

export type SeenReader = Reader & {
  type: string
  state: string
  rates: ReaderRates
  /** It has committed an offset of the topic. */
  has_commits: boolean
  members: number | null
  horizonMs: number
  partitions: (ReaderPartition & { is_rewound: boolean; gap: { from_offset: bigint; to_offset: bigint } | null })[]
}

/** Stores what a look has found. */
export async function recordReaders(
  sql: Sql,
  { began_at, readers }: { began_at: string; readers: readonly SeenReader[] },
): Promise<void> {
  if (readers.length === 0) return
  const rows = readers.map(({ partitions: _, rates, ...row }) => ({ ...row, ...rates }))
  const partitions = readers.flatMap(({ partitions }) =>
    partitions.map(({ gap: _, marks, ...row }) => ({
      ...row,
      marks: marks.map(({ below, at }) => ({ below, at: new Date(at).toISOString() })),
    })),
  )
  const gaps = readers.flatMap(({ partitions }) =>
    partitions.flatMap(({ gap, target_topic, consumer_group, partition }) =>
      gap === null ? [] : [{ target_topic, consumer_group, partition, ...gap }],
    ),
  )
  await sql`
    with seen as (
      insert into dlq.dlq_readers as known (
        target_topic, consumer_group, type, state, members, has_commits, horizon, looked_at, per_second, best_per_second, best_at,
        produced_per_second, measured_from, alone_since)
      select target_topic, consumer_group, type, state, members, has_commits, "horizonMs" * interval '1 ms',
             ${began_at}::text::timestamptz, per_second, best_per_second, to_timestamp(best_at / 1000), produced_per_second,
             measured_from, case when members = 0 then now() end
      from json_to_recordset(${toJson(rows)}::json) as row (
        target_topic text, consumer_group text, type text, state text, members int, has_commits boolean, "horizonMs" float8,
        per_second float8, best_per_second float8, best_at float8, produced_per_second float8, measured_from json)
      order by target_topic, consumer_group
      on conflict (target_topic, consumer_group) do update set
        type = excluded.type, state = excluded.state, members = excluded.members, has_commits = excluded.has_commits,
        horizon = excluded.horizon, looked_at = excluded.looked_at, per_second = excluded.per_second,
        best_per_second = excluded.best_per_second, best_at = excluded.best_at,
        produced_per_second = excluded.produced_per_second, measured_from = excluded.measured_from,
        alone_since = case when excluded.members = 0 then coalesce(known.alone_since, excluded.alone_since) end
    ),
    jumped as (
      insert into dlq.dlq_reader_gaps (target_topic, consumer_group, partition, from_offset, to_offset)
      select * from json_to_recordset(${toJson(gaps)}::json) as row (
        target_topic text, consumer_group text, partition int, from_offset bigint, to_offset bigint)
      on conflict (target_topic, partition, consumer_group, from_offset) do update set
        to_offset = greatest(dlq_reader_gaps.to_offset, excluded.to_offset), seen_at = now()
    )
    insert into dlq.dlq_reader_partitions as known (
      target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset,
      passed_offset, settled_offset, marks, rewound_at, looked_at)
    select target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset,
           passed_offset, settled_offset, marks, case when is_rewound then now() end, ${began_at}::text::timestamptz
    from json_to_recordset(${toJson(partitions)}::json) as row (
      target_topic text, consumer_group text, partition int, committed_offset bigint, log_start_offset bigint,
      log_end_offset bigint, passed_offset bigint, settled_offset bigint, marks json, is_rewound boolean)
    order by target_topic, partition, consumer_group
    on conflict (target_topic, partition, consumer_group) do update set
      committed_offset = excluded.committed_offset, log_start_offset = excluded.log_start_offset,
      log_end_offset = excluded.log_end_offset, passed_offset = excluded.passed_offset,
      settled_offset = excluded.settled_offset, marks = excluded.marks,
      rewound_at = coalesce(excluded.rewound_at, known.rewound_at), looked_at = excluded.looked_at`
}

/** Stores who judges the attempts of these topics whose own group is not known; nobody else does any more. */
export async function recordVerdictGroups(
  sql: Sql,
  { topics, judges }: { topics: readonly string[]; judges: readonly Reader[] },
): Promise<void> {
  await sql`
    with wanted as materialized (
      select target_topic, consumer_group
      from json_to_recordset(${toJson(judges)}::json) as judge (target_topic text, consumer_group text)
    ),
    dropped as (
      delete from dlq.dlq_reader_topics t
      where t.target_topic = any(${sql.array([...topics])}::text[])
        and not exists (select from wanted w where w.target_topic = t.target_topic)
    )
    insert into dlq.dlq_reader_topics as known (target_topic, verdict_group)
    select target_topic, consumer_group from wanted order by target_topic
    on conflict (target_topic) do update set verdict_group = excluded.verdict_group
    where known.verdict_group <> excluded.verdict_group`
}

/** Forgets gaps that no attempt of the last `days` can be in. What was jumped over earlier counts as read from then on. */
export async function forgetReaderGaps(sql: Sql, { days }: { days: number }): Promise<void> {
  await sql`delete from dlq.dlq_reader_gaps where seen_at < now() - ${days}::int * interval '1 day'`
}
