// What asks to see behind masks, on every route that shows content of messages: `unmask=true`, and why.

import { textForPostgres } from 'dlq-core/domain/record/text-for-postgres.ts'
import { endRead, type Read, recordRead } from 'dlq-core/queries/change/reads.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { HonoRequest } from 'hono'
import { ApiError, invalidField } from '../http/api-error.ts'
import type { Call, Route } from '../http/define-route.ts'
import type { UnmaskedMessages } from './sight.ts'

export type Unmask = { reason: string | null }

const maxReasonChars = 1000
const maxReasonBytes = 4000

/** Whether a reason is given in the body. Elsewhere it is a parameter, which means nothing without `unmask`. */
export function bodyHasReason({ body }: Pick<Route, 'body'>): boolean {
  const schema = body as { entries?: object; wrapped?: { entries?: object } }
  return Object.hasOwn((schema.wrapped ?? schema).entries ?? {}, 'reason')
}

/** Null where the request does not ask for it. @throws {ApiError} 400 */
export function readUnmask(
  request: HonoRequest,
  body: unknown,
  { route: { masks }, reason: wanted }: { route: Pick<Route, 'masks'>; reason: 'optional' | 'required' },
): Unmask | null {
  if (masks === 'none') return null
  const [asked = null, ...others] = request.queries('reason') ?? []
  if (others.length > 0) throw invalidField('reason', 'must be given once')
  if (asked !== null && asked.length > maxReasonChars)
    throw invalidField('reason', `must be at most ${maxReasonChars} characters`)
  const [given, ...more] = request.queries('unmask') ?? []
  if (given === undefined || (given === 'false' && more.length === 0)) return null
  if (given !== 'true' || more.length > 0) throw invalidField('unmask', 'must be true or false, given once')
  const written = asked ?? (body as { reason?: string } | undefined)?.reason ?? null
  if (wanted === 'required' && !written?.trim())
    throw invalidField('reason', 'is required with unmask=true: audit.unmask_reason says so')
  return { reason: written && textForPostgres(written, maxReasonBytes) }
}

type Unmasking = {
  by: Call['by']
  unmask: Unmask
  unmasked: UnmaskedMessages
  route: Pick<Route, 'method' | 'path' | 'answers'>
  params: unknown
  query: unknown
  body: unknown
}

/**
 * Records who is shown what behind masks, before the first byte of it leaves. @throws {ApiError} 503 where it cannot be
 * recorded: then nothing is shown
 */
export async function recordUnmasked(
  sql: Database,
  { by, unmask, unmasked, route, params, query, body }: Unmasking,
): Promise<void> {
  const selection = (body as { selection?: { filter?: object } } | undefined)?.selection
  const asked = lookedFor(query) ?? lookedFor(selection?.filter)
  const isExport = route.path.endsWith('/export')
  // What a stream shows is not known yet.
  const isStream = route.answers[200]?.types !== undefined
  if (!unmasked.isAny && !isStream && !asksForContent(asked)) return
  const read: Read = {
    ...{ actor: by.actor, request_id: by.request_id, action: `${route.method.toUpperCase()} ${route.path}` },
    ...{ ids: [...unmasked.ids], target: targetOf(params), filter: asked, reason: unmask.reason },
    shown: isExport ? null : unmasked.ids.size,
  }
  const id = await recordRead(sql, read).catch((cause: unknown) => {
    throw Object.assign(
      new ApiError('SYS_DLQ_UNAVAILABLE', 'the read cannot be recorded, so nothing is shown; try again in a moment'),
      { cause },
    )
  })
  unmasked.recorded((shown) => endRead(sql, { id, shown }))
}

/** An answer to such a question tells of content, also where it finds nothing. */
function asksForContent(asked: object | null): boolean {
  return asked !== null && ['payload', 'key', 'q'].some((name) => Object.hasOwn(asked, name))
}

/** What was looked for, as it was asked; null where nothing was. */
function lookedFor(query: unknown): object | null {
  const given = Object.entries((query ?? {}) as object).filter(
    ([name, value]) => value !== undefined && !['cursor', 'limit', 'page', 'page_size'].includes(name),
  )
  return given.length === 0 ? null : Object.fromEntries(given)
}

function targetOf(params: unknown): string | null {
  const { id, topic } = params as { id?: string; topic?: string }
  return id ?? topic ?? null
}
