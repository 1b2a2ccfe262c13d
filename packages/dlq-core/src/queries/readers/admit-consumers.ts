// Which consumer groups the dead letters of a DLQ topic, and those that are reported by HTTP for an original topic, may
// name in the column of that name. Whoever writes or reports them chooses the names, and each is a line of every count, a
// label, and a question to Kafka.

import { lines } from '../reading/summary.ts'
import { type Sql, toJson } from '../sql.ts'

/** Of one DLQ topic, or of the reports for one original topic. */
const maxConsumers = 1000

export type Consumer = { dlq_topic: string; consumer_group: string }

/**
 * Returns those of the groups that the DLQ topics' messages name already, and others as long as a topic has few. Callers
 * at the same time may exceed the bound by the groups that they add.
 */
export async function admitConsumers(sql: Sql, consumers: readonly Consumer[]): Promise<Consumer[]> {
  if (consumers.length === 0) return []
  const topics = sql.array([...new Set(consumers.map(({ dlq_topic }) => dlq_topic))])
  return sql<Consumer[]>`
    with known as materialized (
      select dlq_topic, consumer_group from ${lines(sql)}
      where dlq_topic = any(${topics}::text[]) and consumer_group is not null
      group by dlq_topic, consumer_group having sum(count) > 0
    ),
    met as (
      select met.*, known.consumer_group is not null as is_known,
             row_number() over (partition by dlq_topic, known.consumer_group is null order by consumer_group) as place
      from json_to_recordset(${toJson(consumers)}::json) as met (dlq_topic text, consumer_group text)
      left join known using (dlq_topic, consumer_group)
    )
    select dlq_topic, consumer_group from met
    where is_known or place + (select count(*) from known where known.dlq_topic = met.dlq_topic) <= ${maxConsumers}`
}

/** Whether a report for the original topic may name the consumer group: others do already, or they name few. */
export async function mayReportConsumer(
  sql: Sql,
  { original_topic, consumer_group }: { original_topic: string; consumer_group: string },
): Promise<boolean> {
  const [row] = await sql<[{ may: boolean }]>`
    select count(*) < ${maxConsumers} or coalesce(bool_or(consumer_group = ${consumer_group}), false) as may
    from (
      select consumer_group from ${lines(sql)}
      where original_topic = ${original_topic} and dlq_topic is null and consumer_group is not null
      group by consumer_group having sum(count) > 0
    ) known`
  return row.may
}
