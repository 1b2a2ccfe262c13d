// Asks the registries for the schemas that are wanted, apart from all other work: nothing waits for a registry. One that
// does not answer five times in a row is left alone for a while.

import { schemaName } from '../../domain/payload/create-codec.ts'
import { textForPostgres } from '../../domain/record/text-for-postgres.ts'
import { type DueSchema, postponeSchema, storeSchema, takeDueSchemas } from '../../queries/schemas/schemas.ts'
import type { SchemasConfig } from '../config/schemas-schema.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../log.ts'
import type { PassResult } from '../run-loop.ts'
import type { Environment } from './aws-credentials.ts'
import { createRegistryClient, type Fetched, type FetchSchema } from './registry-client.ts'
import { RegistryAway } from './registry-request.ts'

/** How often `dlq_schemas` is asked for schemas that are due. */
export const schemasPollMs = 500

const maxAtOnce = 8
/** Longer than one schema takes with all its references, unless every answer is late. */
const leaseMs = 60_000
const failuresToRest = 5
const restMs = 30_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const maxNameBytes = 1000
const maxProblemBytes = 4000

/** `env`: where AWS's credentials are looked for, for registries of type glue. */
type Deps = { sql: Database; schemas: SchemasConfig; log: Log; now: () => number; env: Environment }
type Asked = { fetch: FetchSchema; failures: number; restsUntil: number }

/** One pass: asks for the schemas that are due, at most eight. For `runLoop`, with `schemasPollMs`. */
export function createSchemaFetcher({ sql, schemas, log, now, env }: Deps): () => Promise<PassResult> {
  const registries = new Map(
    schemas.registries.map((registry): [string, Asked] => [
      registry.name,
      { fetch: createRegistryClient(registry, { log, env, now: Date.now }), failures: 0, restsUntil: 0 },
    ]),
  )

  async function fetchOne(due: DueSchema): Promise<void> {
    const registry = registries.get(due.registry)!
    const named = { registry: due.registry, kind: due.id_kind, id: due.schema_id }
    let fetched: Fetched
    try {
      fetched = await registry.fetch({ kind: due.id_kind, id: due.schema_id })
    } catch (error) {
      if (!(error instanceof RegistryAway)) throw error
      registry.failures += 1
      if (registry.failures >= failuresToRest) registry.restsUntil = now() + restMs
      log.warn({ ...named, reason: error.message }, 'registry_unreachable')
      const waitMs = Math.min(1000 * 2 ** due.tries, minuteMs)
      return postponeSchema(sql, { id: due.id, state: 'wanted', problem: 'registry_unreachable', waitMs })
    }
    registry.failures = 0
    if (fetched.kind === 'known') {
      const declared = schemaName(fetched.schema)
      const name = declared && textForPostgres(declared, maxNameBytes)
      const { isOther } = await storeSchema(sql, due.id, { ...fetched.schema, name })
      if (isOther) log.warn({ ...named, name }, 'schema_changed')
      else log.info({ ...named, name }, 'schema_known')
      return
    }
    const why = { ...named, reason: fetched.problem }
    if (fetched.kind === 'missing') log.warn(why, 'schema_missing')
    else log.warn(why, 'schema_refused')
    // An id may appear before it has reached the registry that was asked.
    const waitMs = fetched.kind === 'missing' ? Math.min(minuteMs * 2 ** (due.tries - 1), hourMs) : minuteMs
    const problem = textForPostgres(fetched.problem, maxProblemBytes)
    await postponeSchema(sql, { id: due.id, state: fetched.kind, problem, waitMs })
  }

  return async () => {
    const ready = [...registries].filter(([, { restsUntil }]) => restsUntil <= now()).map(([name]) => name)
    if (ready.length === 0) return { more: false }
    const due = await takeDueSchemas(sql, { registries: ready, limit: maxAtOnce, leaseMs })
    await Promise.all(due.map(fetchOne))
    return { more: due.length === maxAtOnce }
  }
}
