// dlq_samples: somebody wants to see some records of a topic. The API asks, an ingester reads them in Kafka and answers,
// and the API takes the answer away.

import type { Sql } from '../sql.ts'

const keptFor = '1 minute'

/** Asks for a sample. Null where too many wait already. */
export async function askForSample(
  sql: Sql,
  { cluster, topic, atMost }: { cluster: string; topic: string; atMost: number },
): Promise<string | null> {
  await sql`delete from dlq.dlq_samples where asked_at < clock_timestamp() - ${keptFor}::text::interval`
  const [row] = await sql<{ id: string }[]>`
    insert into dlq.dlq_samples (cluster, topic)
    select ${cluster}, ${topic} where (select count(*) from dlq.dlq_samples) < ${atMost}
    returning id`
  return row?.id ?? null
}

export type SampleRequest = { id: string; topic: string }

/** Takes one request, for one ingester. */
export async function takeSampleRequest(sql: Sql, { cluster }: { cluster: string }): Promise<SampleRequest | null> {
  const [row] = await sql<SampleRequest[]>`
    update dlq.dlq_samples set taken_at = clock_timestamp()
    where id = (
      select id from dlq.dlq_samples
      where cluster = ${cluster} and taken_at is null and asked_at > clock_timestamp() - ${keptFor}::text::interval
      order by asked_at limit 1 for update skip locked)
    returning id, topic`
  return row ?? null
}

/** `answer` is JSON text. */
export async function answerSample(sql: Sql, { id, answer }: { id: string; answer: string }): Promise<void> {
  await sql`update dlq.dlq_samples set answer = ${answer}::text::json where id = ${id}`
}

/** Takes the answer away, as JSON text; null while there is none. */
export async function takeSampleAnswer(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ answer: string }[]>`
    delete from dlq.dlq_samples where id = ${id} and answer is not null returning answer::text as answer`
  return row?.answer ?? null
}

export async function forgetSample(sql: Sql, id: string): Promise<void> {
  await sql`delete from dlq.dlq_samples where id = ${id}`
}
