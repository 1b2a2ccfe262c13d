// Decodes values that are projected as JSON already, where that is not all: for the columns of dlq_messages.

import { hasSchemaHeader } from '../../domain/payload/schema-frames.ts'
import { type StoredDecoding, storedDecoding } from '../../domain/payload/stored-decoding.ts'
import type { PayloadReader, Readable } from './payload-reader.ts'

/** A value, and what it is as plain JSON: null where it is not JSON, or was not looked at. */
export type Projected = { readable: Readable & { part: 'value' }; payload: string | null }

/**
 * The columns of those values that may be something else than their projection says, by their index. JSON of topics
 * without rules is left alone, so it costs what it costs without schemas.
 */
export async function decodeProjected(
  reader: PayloadReader,
  values: readonly Projected[],
  options: Parameters<PayloadReader['readAll']>[1],
): Promise<Map<number, StoredDecoding>> {
  const others = [...values.entries()].filter(([, value]) => mayDiffer(reader, value))
  if (others.length === 0) return new Map()
  const readings = await reader.readAll(
    others.map(([, { readable }]) => readable),
    options,
  )
  return new Map(others.map(([at], index) => [at, storedDecoding(readings[index]!, true)]))
}

/** Whether the value may be something else than its projection says. */
export function mayDiffer(reader: Pick<PayloadReader, 'planOf'>, { readable, payload }: Projected): boolean {
  const { format } = reader.planOf(readable.topics).value
  return payload === null || (format !== 'auto' && format !== 'json') || hasSchemaHeader(readable.headers, 'value')
}
