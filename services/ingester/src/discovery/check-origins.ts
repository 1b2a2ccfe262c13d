// Looks whether the original topics of the DLQ topics still exist, and whether a dead letter, which is larger than its
// record, fits into its DLQ topic.

import { type CheckedOrigins, listOrigins, recordOrigins } from 'dlq-core/queries/discovery/origins.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { readTopicSettings } from 'dlq-core/runtime/kafka/questions/read-topic-settings.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Admin } from 'kafkajs'

export type OriginDeps = { admin: Pick<Admin, 'describeConfigs' | 'listTopics'>; sql: Database; log: Log }

/** A pass over all DLQ topics. */
export async function checkOrigins({ admin, sql, log }: OriginDeps, cluster: string): Promise<{ more: boolean }> {
  const origins = await listOrigins(sql, { cluster })
  if (origins.length === 0) return { more: false }
  const existing = new Set(await admin.listTopics())
  const asked = [...new Set(origins.flatMap(({ topic, originals }) => [topic, ...originals]))]
  const sizes = new Map(
    await askTogether(
      asked.filter((topic) => existing.has(topic)),
      (topics) => readMaxBytes(admin, topics),
      log,
    ),
  )
  const checked = origins.map(({ topic, originals }): CheckedOrigins => {
    const known = originals.flatMap((original) => sizes.get(original) ?? [])
    return {
      topic,
      missing_originals: originals.filter((original) => !existing.has(original)).slice(0, 20),
      max_message_bytes: sizes.get(topic) ?? null,
      original_max_bytes: known.length === 0 ? null : Math.max(...known),
    }
  })
  await recordOrigins(sql, { cluster, checked })
  return { more: false }
}

async function readMaxBytes(admin: OriginDeps['admin'], topics: readonly string[]): Promise<[string, number][]> {
  const settings = await readTopicSettings(admin, topics, ['max.message.bytes'])
  return [...settings].flatMap(([topic, values]): [string, number][] => {
    const value = Number(values.get('max.message.bytes'))
    return Number.isSafeInteger(value) && value > 0 ? [[topic, value]] : []
  })
}
