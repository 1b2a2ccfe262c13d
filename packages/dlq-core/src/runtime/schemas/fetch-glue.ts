// A schema's version from AWS Glue: https://docs.aws.amazon.com/glue/latest/webapi/API_GetSchemaVersion.html

import type { SchemaDefinition } from '../../domain/payload/create-codec.ts'
import type { SchemaRef } from '../../domain/payload/schema-frames.ts'
import { type RegistryConfig, regionOf } from '../config/schemas-schema.ts'
import { createAwsCredentials, type Environment, NoCredentials } from './aws-credentials.ts'
import { NoSchema } from './no-schema.ts'
import { RegistryAway, type RegistryRequest } from './registry-request.ts'
import { signAws } from './sign-aws.ts'

type Answer = {
  SchemaDefinition?: unknown
  DataFormat?: unknown
  __type?: unknown
  Message?: unknown
  message?: unknown
}

const types = new Map<unknown, SchemaDefinition['type']>([
  ['AVRO', 'avro'],
  ['JSON', 'json'],
  ['PROTOBUF', 'protobuf'],
])

/** As the names of its faults end. */
const missing = /(?:EntityNotFound|InvalidInput)Exception$/
const refused =
  /(?:AccessDenied|UnrecognizedClient|ExpiredToken|InvalidSignature|IncompleteSignature|InvalidClientTokenId)(?:Exception)?$/

export function createGlueFetcher(
  registry: RegistryConfig,
  { env, now }: { env: Environment; now: () => number },
): (request: RegistryRequest, ref: Pick<SchemaRef, 'id'>) => Promise<SchemaDefinition> {
  const region = regionOf(registry)!
  const credentialsOf = createAwsCredentials(env, { region, timeoutMs: registry.timeout, now })
  const url = new URL('/', registry.url)
  return async (request, { id }) => {
    const body = JSON.stringify({ SchemaVersionId: id })
    const headers = signAws(await credentials(credentialsOf), {
      ...{ method: 'POST', url, body, region, service: 'glue', now: new Date(now()) },
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AWSGlue.GetSchemaVersion' },
    })
    const { status, text } = await request('/', { body, headers })
    const answer = parse(text)
    if (status !== 200) throw faultOf(status, answer, id)
    const type = types.get(answer.DataFormat)
    if (typeof answer.SchemaDefinition !== 'string' || type === undefined)
      throw new NoSchema('missing', `Glue's answer to schema version ${id} holds no schema of a known type`)
    return { type, definition: answer.SchemaDefinition, references: [], encrypted: false }
  }
}

async function credentials(ask: ReturnType<typeof createAwsCredentials>) {
  try {
    return await ask()
  } catch (cause) {
    if (cause instanceof NoCredentials) throw new NoSchema('refused', cause.message)
    throw new RegistryAway(`AWS's credentials could not be had: ${(cause as Error).message}`, { cause })
  }
}

function faultOf(status: number, { __type, Message, message }: Answer, id: string): Error {
  const name = String(__type ?? status).replace(/^.*#/, '')
  const said = `Glue answered ${name} to schema version ${id}: ${String(Message ?? message ?? '')}`.slice(0, 500)
  if (missing.test(name)) return new NoSchema('missing', said)
  return refused.test(name) || status === 401 || status === 403 ? new NoSchema('refused', said) : new RegistryAway(said)
}

function parse(text: string): Answer {
  try {
    const answer = JSON.parse(text) as unknown
    return typeof answer === 'object' && answer !== null ? (answer as Answer) : {}
  } catch {
    return {} // It is no answer of Glue's, and treated so.
  }
}
