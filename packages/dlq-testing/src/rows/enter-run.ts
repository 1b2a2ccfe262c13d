import type { TestDatabase } from '../postgres/test-database.ts'

/** Lets a new run hold all stored messages. The returned function reads what has been counted for it. */
export async function enterRun(sql: TestDatabase['sql']): Promise<() => Promise<Record<string, number>>> {
  const [run] = await sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, until_id, matched, matched_relation)
    values ('retry', 'running', 'ann', '{"filter":{}}', gen_random_uuid(), 1, 'eq')
    returning id`
  await sql`update dlq.dlq_messages set run_id = ${run!.id}`
  return async () => {
    const rows = await sql<{ outcome: string; n: number }[]>`
      select outcome, sum(n)::int as n from dlq.dlq_run_deltas where run_id = ${run!.id} group by outcome`
    return Object.fromEntries(rows.map(({ outcome, n }) => [outcome, n]))
  }
}
