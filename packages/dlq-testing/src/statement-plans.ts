// The plans of statements as PostgreSQL ran them, from auto_explain: with their parameters, custom and generic,
// which an EXPLAIN of a text that resembles the statement would not show.

import type { Sql } from 'dlq-core/queries/sql.ts'
import postgres from 'postgres'

export type PlanNode = { 'Node Type': string; 'Relation Name'?: string; 'Index Name'?: string; Plans?: PlanNode[] }

/** `force_custom_plan` or `force_generic_plan`. */
export const planCacheModes = ['force_custom_plan', 'force_generic_plan'] as const

/** Runs the query and takes it back. Returns the plans of the statements that it sent. */
export async function plansOf(
  databaseUrl: string,
  planCacheMode: string,
  query: (sql: Sql) => Promise<unknown>,
): Promise<PlanNode[]> {
  const plans: PlanNode[] = []
  const sql = postgres(databaseUrl, {
    max: 1,
    connection: { client_min_messages: 'log', application_name: 'plans' },
    types: {
      bigint: postgres.BigInt,
      json: { to: 114, from: [114, 3802], serialize: (text: string) => text, parse: (text: string) => text },
    },
    onnotice: ({ message }) => {
      const json = /plan:\s*(\{.*\})\s*$/s.exec(message ?? '')?.[1]
      if (json) plans.push(JSON.parse(json).Plan)
    },
  })
  try {
    await sql.unsafe(
      `load 'auto_explain'; set plan_cache_mode = ${planCacheMode}; set auto_explain.log_format = json; set auto_explain.log_nested_statements = off`,
    )
    await sql
      .begin(async (sql) => {
        await sql`set local auto_explain.log_min_duration = 0`
        await query(sql as unknown as Sql)
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

/** The partitions of dlq.dlq_messages that hold rows, as of the last analyze. */
export async function partitionsWithRows(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ relname: string }[]>`
    select relname from pg_inherits join pg_class on oid = inhrelid where inhparent = 'dlq.dlq_messages'::regclass and reltuples > 0`
  return rows.map(({ relname }) => relname)
}
