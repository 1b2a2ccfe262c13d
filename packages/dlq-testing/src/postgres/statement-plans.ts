// The plans by which PostgreSQL ran statements, from auto_explain, with their parameters, custom and generic. An EXPLAIN
// of a similar text would not show them.

import type { Sql } from 'dlq-core/queries/sql.ts'
import { types } from 'dlq-core/runtime/database/database.ts'
import postgres from 'postgres'
import { postgresVersion } from './postgres-programs.ts'

export type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Filter?: string
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Actual Loops': number
  /** Of each loop. */
  'Actual Rows': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: PlanNode[]
}

type PlanCacheMode = 'force_custom_plan' | 'force_generic_plan'

/**
 * Before PostgreSQL 17, conditions like "status = any(array[…])" lose an index its order where their values are known when
 * the statement is planned. There the roles of the services ask for generic plans (infra/docs/configuration.md).
 */
export const planCacheModes: readonly PlanCacheMode[] =
  postgresVersion < 17 ? ['force_generic_plan'] : ['force_custom_plan', 'force_generic_plan']

/** Prepares, runs the query, and rolls everything back. Returns the plans of the statements that the query sent. */
export async function plansOf<Prepared>(
  databaseUrl: string,
  planCacheMode: string,
  query: (sql: Sql, prepared: Prepared) => Promise<unknown>,
  prepare?: (sql: Sql) => Promise<Prepared>,
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
       set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on`,
    )
    await sql
      .begin(async (sql) => {
        const prepared = (await prepare?.(sql as unknown as Sql)) as Prepared
        await sql`set local auto_explain.log_min_duration = 0`
        await query(sql as unknown as Sql, prepared)
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

/** The plan's nodes, from the top. */
export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

/** How many blocks the node and those under it read, in each loop. */
export function blocksOf(node: PlanNode): number {
  return node['Shared Hit Blocks'] + node['Shared Read Blocks']
}

/** Not a part that nothing had to be asked of. */
export function isRun(node: PlanNode): boolean {
  return node['Actual Loops'] > 0
}

/** The partitions of dlq.dlq_messages that hold rows, as of the last analyze. */
export async function partitionsWithRows(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ relname: string }[]>`
    select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = 'dlq.dlq_messages'::regclass and reltuples > 0`
  return rows.map(({ relname }) => relname)
}
