// How an endpoint is written. A route is declared once, with its handler beside it; validation, the
// required role, the OpenAPI document and the tests over all endpoints follow from the declaration:
//
//   export const thingRoutes = [
//     defineRoute({
//       method: 'get',
//       path: '/api/v1/things/:id',
//       summary: 'One thing',                        // in the OpenAPI document, with `description` below it
//       role: 'read',                                // 'read', 'write' or 'admin'; null for everybody
//       masks: 'none',                               // whether the answer holds content of messages (`MaskClass`)
//       params: v.object({ id: thingId }),           // faults of paths, queries, headers and bodies answer
//       query: v.strictObject({ page: pageNumber }), // 400 with one detail per field; what is not declared
//       answers: { 200: { description: 'The thing.', schema: thingSchema, example: exampleThing } },
//       faults: ['SYS_DLQ_NOT_FOUND'],               // besides those that every route has (open-api.ts)
//     }, async ({ c, sql, access, params, query }) => {
//       const thing = await getThing(sql, { id: params.id, scope: access.topics })
//       if (!thing) throw notFound(params.id)
//       return c.json(thing)
//     }),
//   ]
//
// and its file gets a line in routes/all-routes.ts. What a query cannot express, such as a role that
// depends on the body, the handler refuses by throwing an ApiError whose code stands in `faults`.
// Schemas with v.title('Thing') become components of that name in the OpenAPI document.

import type { Masks } from 'dlq-core/domain/masks/create-masks.ts'
import type { PolicyLayers } from 'dlq-core/domain/retry/effective-policy.ts'
import type { Aside } from 'dlq-core/runtime/aside/aside.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import type { Readiness } from 'dlq-core/runtime/readiness.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { Span } from 'dlq-core/runtime/tracing.ts'
import type { Context } from 'hono'
import type { Registry } from 'prom-client'
import * as v from 'valibot'
import type { Access, Acting, Role } from '../access/access.ts'
import type { Turns } from '../access/turns.ts'
import type { ConsoleConfig } from '../console/console-config.ts'
import type { FleetEvents } from '../fleet/fleet-events.ts'
import type { CursorSeal } from '../lists/cursor-seal.ts'
import type { Sight } from '../masks/sight.ts'
import type { Sessions } from '../session/sessions.ts'
import type { ApiErrorCode } from './api-error.ts'
import type { EventStreams } from './event-streams.ts'
import type { Places } from './places.ts'

export type ApiEnv = {
  Variables: {
    requestId: string
    access: Access
    /** Who the sender is now: tokens expire while an answer goes on. @throws {ApiError} as at the beginning */
    identifyAgain: () => Promise<Access>
    body: Buffer
    /** The answers that are streamed. */
    streams: Places
    /** For what they read of the database. */
    readingTurns: Turns
    span: Span
  }
}

/** The dependencies of handlers. */
export type ApiDeps = {
  sql: Database
  /** By the database's clock, which says what is due. */
  now: () => Date
  log: Log
  registry: Registry
  readiness: Readiness
  /** Look policies up after `await policies.refresh()`, which costs one row where nothing has changed. */
  policies: PolicySource
  /** Reads values that are not JSON. Null: the configuration has no section "schemas". */
  payloads: PayloadReader | null
  /** Works out large changes beside the event loop. */
  aside: Aside
  /** The masks of the configuration; null where there are none. */
  masks: Masks | null
  /** The policies of the configuration. */
  policyLayers: Omit<PolicyLayers, 'rows'>
  /** Names of topics and consumer groups, by their ids, where nobody has given another. */
  names: Config['names']
  /** Tells the retriers that messages are due. Call it after the transaction has committed. */
  wakeRetriers: () => void
  /** Globs of the topics that are ingested. */
  dlqPatterns: readonly string[]
  /** Globs of the topics that messages may be sent to. The retriers hold them; here a request hears of it at once. */
  allowedTargets: readonly string[]
  /** How long a retry waits for its outcome, at most. */
  retryWaitMs: number
  eventStreams: EventStreams
  /** Samples of topics that wait for an ingester. */
  samples: Places
  fleetEvents: FleetEvents
  sessions: Sessions
  /** Of cursors whose row the caller may not see. */
  cursorSeal: CursorSeal
  /** The URL under which browsers reach the API. */
  publicUrl?: string | undefined
  /** What `/console/config.json` answers; null where the API serves no console. */
  consoleConfig: ConsoleConfig | null
}

export const methods = ['get', 'put', 'post', 'patch', 'delete'] as const
export type Method = (typeof methods)[number]

export type Answer = {
  description: string
  /** The schema of a JSON body. Absent: the body is not JSON, or there is none. */
  schema?: v.GenericSchema
  example?: unknown
  /** Media types of a body that is not JSON. */
  types?: readonly string[]
  /** Headers of the answer, by name, with their descriptions. */
  headers?: Readonly<Record<string, string>>
}

/**
 * What an answer holds of messages' content: keys, values, headers, errors, and what people wrote about them. `none`: nothing.
 * `shown`: rows that went through `shown`. `bytes`: what is stored, refused to whom any of it is hidden.
 */
export type MaskClass = 'none' | 'shown' | 'bytes'

export type RouteSpec<Params, Query, Headers, Body> = {
  method: Method
  /** With ":name" for parameters, as Hono writes them. */
  path: string
  summary: string
  description?: string
  /** Null: everybody may, also without a token. */
  role: Role | null
  masks: MaskClass
  /** The route is about all topics at once: a token that is limited to some is refused. */
  allTopics?: boolean
  params?: Params
  /** A strict object: what is not declared is refused, because a filter that is ignored does harm. */
  query?: Query
  /** The headers that the route reads, with names in lower case. */
  headers?: Headers
  /** The schema of a JSON body, in v.optional(…, {}) where a request may omit it. */
  body?: Body
  /** An example of the body, for the OpenAPI document. */
  bodyExample?: unknown
  /** Default: one mebibyte, or 64 KiB where it waits. */
  maxBodyBytes?: number
  answers: Readonly<Record<number, Answer>>
  faults?: readonly ApiErrorCode[]
  /** The route only reads, and may read data that is some moments old: a replica answers where there is one. */
  readsReplica?: boolean
  /** It shows payloads, keys or values: `audit.reads: payloads` audits it. */
  showsPayloads?: boolean
  /** Clients poll it: the answer has an ETag, and 304 says that it has not changed. */
  revalidates?: boolean
  /** The request may take `retryWaitMs` longer than other requests. */
  waits?: boolean
}

export const noFields = v.strictObject({})
type None = typeof noFields
const noBody = v.optional(noFields, {})

/** The argument of a handler; everything in it is validated. */
export type Call<
  Params extends v.GenericSchema = None,
  Query extends v.GenericSchema = None,
  Headers extends v.GenericSchema = None,
  Body extends v.GenericSchema = typeof noBody,
> = ApiDeps & {
  c: Context<ApiEnv>
  /** Who asks, and for which topics they have the route's role: every query takes `access.topics`. */
  access: Acting
  /** What they see of messages' content: rows become answers by `shown(row, sight)`. */
  sight: Sight
  /** What `writeAudit` wants to know about who asks. */
  by: { actor: string; role: Role; request_id: string }
  /** Aborted when the client is gone, the time is up, or the service stops. */
  signal: AbortSignal
  params: v.InferOutput<Params>
  query: v.InferOutput<Query>
  headers: v.InferOutput<Headers>
  body: v.InferOutput<Body>
  /** The text of the body's field at the path, its numbers as they were sent: JSON.parse would round them. */
  exactJson: (...path: string[]) => string
}

export type Route = Omit<
  RouteSpec<v.GenericSchema, v.GenericSchema, v.GenericSchema, v.GenericSchema>,
  'params' | 'query' | 'headers' | 'body'
> & {
  readonly params: v.GenericSchema
  readonly query: v.GenericSchema
  readonly headers: v.GenericSchema
  readonly body: v.GenericSchema
  readonly handle: (call: Call<v.GenericSchema, v.GenericSchema, v.GenericSchema, v.GenericSchema>) => Promise<Response>
}

export function defineRoute<
  Params extends v.GenericSchema = None,
  Query extends v.GenericSchema = None,
  Headers extends v.GenericSchema = None,
  Body extends v.GenericSchema = typeof noBody,
>(
  spec: RouteSpec<Params, Query, Headers, Body>,
  handle: (call: Call<Params, Query, Headers, Body>) => Promise<Response>,
): Route {
  return {
    ...spec,
    params: spec.params ?? noFields,
    query: spec.query ?? noFields,
    headers: spec.headers ?? noFields,
    body: spec.body ?? noBody,
    handle: handle as Route['handle'],
  }
}
