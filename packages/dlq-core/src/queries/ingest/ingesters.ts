// dlq_ingesters: which ingesters live, what Kafka has given them to read, and why one does not read or store.

import { type Sql, toJson } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

export type Assignment = readonly { topic: string; partitions: readonly number[] }[]

/** The topics and the partitions that an ingester names at most, and the characters of a fault. */
const maxTopics = 5000
const maxPartitions = 1000
const maxFault = 500

/** Stores that the ingester is alive. */
export async function noteIngester(
  sql: Sql,
  {
    id,
    cluster,
    assignment,
    fault,
  }: { id: string; cluster: string | null; assignment: Assignment; fault: string | null },
): Promise<void> {
  await sql`
    insert into dlq.dlq_ingesters (id, cluster, assignment, fault)
    values (${id}, ${cluster}, ${toJson(assignment.slice(0, maxTopics))}::json, ${fault?.slice(0, maxFault) ?? null})
    on conflict (id) do update set
      cluster = excluded.cluster, assignment = excluded.assignment, fault = excluded.fault, seen_at = now()`
}

/** Deletes the ingester's row, and those of ingesters that were not seen for a day. */
export async function forgetIngester(sql: Sql, id: string): Promise<void> {
  await sql`delete from dlq.dlq_ingesters where id = ${id} or seen_at < now() - interval '1 day'`
}

/** Those of the ids that no ingester of this database has. */
export async function unknownIngesters(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${sql.array([...ids])}::text[]) as given (id)
    where not exists (select from dlq.dlq_ingesters i where i.id = given.id)`
  return new Set(rows.map(({ id }) => id))
}

export type Ingester = {
  id: string
  fault: string | null
  started_at: Date
  seen_at: Date
  /** Of its partitions together. */
  lag: number
  /** Those in the scope. */
  partitions: { cluster: string; topic: string; partition: number; lag: number }[]
}

/** The ingesters that were seen within the last minute. */
export async function listIngesters(sql: Sql, { scope }: { scope: TopicScope }): Promise<Ingester[]> {
  const rows = await sql<(Omit<Ingester, 'partitions'> & { partitions: string })[]>`
    select i.id, i.fault, i.started_at, i.seen_at, read.lag, read.partitions
    from dlq.dlq_ingesters i
    cross join lateral (
      select coalesce(sum(lag), 0)::float8 as lag,
             coalesce(json_agg(json_build_object('cluster', i.cluster, 'topic', topic, 'partition', partition, 'lag', lag)
                               order by topic, partition) filter (where place <= ${maxPartitions}), '[]') as partitions
      from (
        select given.topic, number as partition, coalesce(k.log_end_offset - greatest(coalesce(p.next_offset, 0), k.log_start_offset), 0) as behind,
               row_number() over (order by given.topic, number) as place
        from json_to_recordset(i.assignment) as given (topic text, partitions int[])
        cross join unnest(given.partitions) number
        left join dlq.dlq_topic_partitions k on k.cluster = i.cluster and k.topic = given.topic and k.partition = number
        left join dlq.dlq_positions p on p.cluster = i.cluster and p.topic = given.topic and p.partition = number
        where ${topicInScope(sql, scope, 'given.topic')}
      ) each
      cross join lateral (select greatest(0, behind) as lag) lag
    ) read
    where i.seen_at > now() - interval '1 minute'
    order by i.started_at, i.id
    limit 1000`
  // The driver leaves JSON as text (infra/docs/decisions/004-json-as-text.md).
  return rows.map((row) => ({ ...row, partitions: JSON.parse(row.partitions) }))
}
