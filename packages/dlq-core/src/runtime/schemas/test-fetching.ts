// A pretended registry, and a database that its schemas are fetched into, for the tests of one file.

import type { SchemaRef } from 'dlq-core/domain/payload/schema-frames.ts'
import { schemas as schemasSchema } from 'dlq-core/runtime/config/schemas-schema.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { type PretendedRegistry, pretendRegistry } from 'dlq-testing/schemas/pretended-registry.ts'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Environment } from './aws-credentials.ts'
import { createSchemaFetcher } from './fetch-schemas.ts'
import { createSchemaSource } from './schema-source.ts'

export const fetchingLog = createLog({ service: 'test', level: 'silent' })

export const refOf = (id: number | string): SchemaRef => ({ registry: 'main', kind: 'id', id: String(id) })

export type Parts = {
  url?: string
  type?: string
  timeout?: string
  now?: () => number
  env?: Environment
  more?: object
}

export function useFetching() {
  const database = useDatabase()
  const service = useServiceDatabase(database)
  let registry: PretendedRegistry
  beforeAll(async () => {
    registry = await pretendRegistry()
  })
  afterAll(() => registry[Symbol.asyncDispose]())
  beforeEach(async () => {
    registry.misbehave(null)
    registry.asked.length = 0
    await emptyTables(database.sql, 'dlq.dlq_schemas')
  })
  return {
    database,
    service,
    /** There once the tests run. */
    get registry() {
      return registry
    },
    parts({ url = registry.url, type = 'confluent', timeout = '20s', now = Date.now, env = {}, more }: Parts = {}) {
      const schemas = v.parse(schemasSchema, { registries: [{ name: 'main', type, url, timeout, ...more }] })
      return {
        fetchSchemas: createSchemaFetcher({ sql: service.sql, schemas, log: fetchingLog, now, env }),
        source: createSchemaSource({ sql: service.sql, now }),
      }
    },
    async want(...ids: number[]) {
      await createSchemaSource({ sql: service.sql, now: Date.now }).load(ids.map(refOf))
    },
  }
}
