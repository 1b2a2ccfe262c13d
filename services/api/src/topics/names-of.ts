// The names that people give to topics and consumer groups: by PATCH, else in the configuration.

import { listNames, type NamedKind } from 'dlq-core/queries/ingest/display-names.ts'
import type { ApiDeps } from '../http/define-route.ts'

/** From an id to its name; null where nobody has given one. */
export async function namesOf(
  { sql, names }: Pick<ApiDeps, 'sql' | 'names'>,
  kind: NamedKind,
  ids: readonly string[],
): Promise<(id: string) => string | null> {
  const given = await listNames(sql, { kind, ids })
  const configured = kind === 'topic' ? names.topics : names.consumer_groups
  return (id) => given.get(id) ?? (Object.hasOwn(configured, id) ? configured[id]! : null)
}
