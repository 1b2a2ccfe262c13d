// The plans of queries as PostgreSQL ran them. They come from auto_explain, because they are those of the
// statements as the queries send them, with their parameters, custom and generic.
import { types } from 'dlq-core/runtime/database.ts'
import postgres from 'postgres'

export type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Filter?: string
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

/** What plan_cache_mode may be: a plan for these parameters, or one for any. */
export const planCacheModes = ['force_custom_plan', 'force_generic_plan'] as const
export type PlanCacheMode = (typeof planCacheModes)[number]

type PlannedSql = postgres.TransactionSql<{ bigint: bigint; json: string }>

/** Prepares, runs the query, and takes everything back. Returns the plans of the statements that the query sent. */
export async function plansOf<T>(
  databaseUrl: string,
  {
    planCacheMode,
    prepare,
    query,
  }: {
    planCacheMode: PlanCacheMode
    prepare?: (sql: PlannedSql) => Promise<T>
    query: (sql: PlannedSql, prepared: T) => Promise<unknown>
  },
): Promise<PlanNode[]> {
  const plans: PlanNode[] = []
  const sql = postgres(databaseUrl, {
    max: 1,
    connection: { client_min_messages: 'log', application_name: 'plans' },
    types,
    onnotice: ({ message }) => {
      const json = /plan:\s*(\{.*\})\s*$/s.exec(message ?? '')?.[1]
      if (json) plans.push(JSON.parse(json).Plan)
    },
  })
  try {
    await sql.unsafe(
      `load 'auto_explain'; set plan_cache_mode = ${planCacheMode}; set auto_explain.log_format = json;
       set auto_explain.log_nested_statements = off; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on`,
    )
    await sql
      .begin(async (sql) => {
        const prepared = (await prepare?.(sql)) as T
        await sql`set local auto_explain.log_min_duration = 0`
        await query(sql, prepared)
        await sql`set local auto_explain.log_min_duration = -1`
        throw new TakeBack()
      })
      .catch((error) => {
        if (!(error instanceof TakeBack)) throw error
      })
  } finally {
    await sql.end()
  }
  return plans
}

class TakeBack extends Error {}

/** The node and all below it. */
export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}
