// How a value was decoded, in words.

import type { components } from 'dlq-client/api-types.ts'

type Decoding = NonNullable<components['schemas']['Decoding']>

const formats = {
  ...{ avro: 'Avro', json: 'JSON Schema', protobuf: 'Protobuf', glue: 'AWS Glue' },
  ...{ msgpack: 'MessagePack', cbor: 'CBOR' },
}
const wrappers = { connect: 'Kafka Connect', debezium: 'Debezium', cloudevents: 'CloudEvents' }

/** "decoded from Avro · com.example.Order · main, id 5 · gzip". */
export function decodingText({ state, format, schema, compression, labels, problem }: Decoding): string {
  const from = format === null ? '' : formats[format]
  const said = state === 'decoded' ? (from === '' ? 'JSON' : `decoded from ${from}`) : whyNot(state, from, problem)
  return [
    said,
    ...(schema?.name ? [schema.name] : []),
    ...(schema ? [`${schema.registry}, ${schema.id_kind} ${schema.id}`] : []),
    ...(compression ? [compression] : []),
    ...labels.map((label) => `in a wrapper of ${wrappers[label]}`),
  ].join(' · ')
}

/** Whether its JSON is not its bytes: what is typed is written with the schema, the frame and the compression it has. */
export function isWrittenBySchema(decoding: Decoding | null): boolean {
  return decoding?.state === 'decoded' && (decoding.format !== null || decoding.compression !== null)
}

const problems: Readonly<Record<string, string>> = {
  schema_unknown: 'nobody has fetched its schema yet',
  registry_unreachable: 'the registry does not answer',
  schema_missing: 'the registry has no such schema',
  registry_refuses: 'the registry does not show its schema',
}

function whyNot(state: Decoding['state'], from: string, problem: string | null): string {
  const what = state === 'waiting' ? 'waits for its schema' : `${from} is not decoded`.trimStart()
  return problem === null ? what : `${what}: ${problems[problem] ?? problem}`
}
