// How a value was decoded, or why it was not, as answers show it.

import { binaryFormats } from 'dlq-core/domain/payload/binary/binary-formats.ts'
import { schemaTypes } from 'dlq-core/domain/payload/create-codec.ts'
import { compressions } from 'dlq-core/domain/payload/decompress.ts'
import { labels } from 'dlq-core/domain/payload/envelope.ts'
import { type Decoding, decodingStates } from 'dlq-core/domain/payload/read-payload.ts'
import * as v from 'valibot'
import { timestamp, timestampText } from '../messages/timestamp.ts'

const text = v.nullable(v.string())

export const decodingSchema = v.nullable(
  v.pipe(
    v.strictObject({
      state: v.pipe(
        v.picklist(decodingStates),
        v.description(
          'decoded: payload is the value. waiting: for its schema. failed: the bytes do not fit the schema. unsupported: a format that is not read yet. encrypted: as a whole. not_now: too large for a list, or the page took too long; ask for the message alone.',
        ),
      ),
      format: v.nullable(v.picklist([...schemaTypes, ...binaryFormats, 'glue'])),
      schema: v.nullable(
        v.strictObject({
          number: v.pipe(v.nullable(v.number()), v.description('The row of dlq_schemas.')),
          registry: v.pipe(v.string(), v.description('The name of the registry in the configuration.')),
          id_kind: v.picklist(['id', 'guid', 'content', 'global', 'file']),
          id: v.string(),
          name: v.pipe(text, v.description('The name of the type.')),
        }),
      ),
      compression: v.nullable(v.picklist(compressions)),
      labels: v.pipe(v.array(v.picklist(labels)), v.description('Well-known wrappers that the value is in.')),
      problem: v.pipe(text, v.description('Why it is not decoded.')),
      since: v.pipe(v.nullable(timestampText), v.description('Since when the schema has been waited for.')),
    }),
    v.title('Decoding'),
    v.description('How the value was decoded. Null for plain JSON, for text, and for bytes of which nothing is known.'),
  ),
)

export type DecodingJson = v.InferOutput<typeof decodingSchema>

export function decodingJson(decoding: Decoding | null): DecodingJson {
  if (decoding === null) return null
  const { state, format, ref, schema, compression, labels, problem } = decoding
  return {
    ...{ state, format, compression, problem, labels: [...labels] },
    schema: ref && {
      number: schema?.number ?? null,
      registry: ref.registry,
      id_kind: ref.kind,
      id: ref.id,
      name: schema?.state === 'known' ? schema.name : null,
    },
    since: schema === null || schema.state === 'known' ? null : timestamp(schema.since),
  }
}
