// Who changed what, and why.

import { isUuid } from 'dlq-core/domain/record/message-id.ts'
import { beyondStorableText, isStorableText } from 'dlq-core/domain/record/text-for-postgres.ts'
import { type AuditFilter, listAudit, listRelatedAudit, type WrittenEntry } from 'dlq-core/queries/change/audit.ts'
import * as v from 'valibot'
import { mapInSteps } from '../answers/next-step.ts'
import { invalidField } from '../http/api-error.ts'
import { defineRoute } from '../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../lists/cursor.ts'
import { refuseTextSearch } from '../masks/refuse-hidden.ts'
import { hiddenEntries, type Shown, shown } from '../masks/shown.ts'
import { sendJsonText } from '../messages/message-json.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'
import { instant, wholeNumber } from '../request/request-schemas.ts'

const auditEntry = v.pipe(
  v.strictObject({
    id: v.string(),
    ...hiddenEntries,
    at: timestampText,
    actor: v.string(),
    role: v.picklist(['read', 'write', 'admin']),
    action: v.string(),
    target_type: v.string(),
    target_id: v.string(),
    original_topic: v.nullable(v.string()),
    dlq_topic: v.nullable(v.string()),
    reason: v.nullable(v.string()),
    before: v.nullable(v.looseObject({})),
    after: v.nullable(v.looseObject({})),
    request_id: v.nullable(v.string()),
  }),
  v.title('AuditEntry'),
)

const auditKey = v.strictTuple([keyParts.bigint])

const shortText = v.optional(
  v.pipe(
    v.string('must be given once'),
    v.maxLength(512, 'must be at most 512 characters'),
    v.check(isStorableText, beyondStorableText),
  ),
)

export const auditRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/audit',
      summary: 'Who changed what, newest first',
      description: [
        'A token for some topics sees only the changes to messages of these topics. With `related=true` an answer looks at',
        '500 entries at most, with `q` at 5,000: it may have fewer than `limit`, even none, and `next_cursor` continues behind them.',
      ].join(' '),
      role: 'read',
      masks: 'shown',
      query: v.strictObject({
        actor: shortText,
        action: shortText,
        target_type: shortText,
        target_id: shortText,
        topic: v.pipe(shortText, v.description('The original topic or the DLQ topic, exactly.')),
        q: v.pipe(shortText, v.description('Text within the reason, in any case.')),
        related: v.exactOptional(
          v.pipe(
            v.picklist(['true', 'false'], 'must be true or false'),
            v.description(
              'With `target_type` group or run and a `target_id`, and nothing else: also the changes of its messages, and the runs over it.',
            ),
          ),
        ),
        from: v.optional(instant),
        to: v.optional(instant),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 1000 }), '50'),
        cursor: shortText,
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({ entries: v.array(auditEntry), next_cursor: v.nullable(v.string()) }),
          example: {
            entries: [
              {
                id: '17',
                at: '2026-02-20T10:30:00.000+00:00',
                actor: 'maria',
                role: 'write',
                action: 'message.dead',
                target_type: 'message',
                target_id: '550e8400-e29b-41d4-a716-446655440000',
                original_topic: 'orders.events.v1',
                dlq_topic: 'orders.dlq.v1',
                reason: 'the order was cancelled',
                before: { status: 'PENDING', max_retries: 3, next_retry_at: '2026-02-20T10:35:00.000Z' },
                after: { status: 'DEAD', max_retries: 3, next_retry_at: null },
                request_id: 'req_abc123def456',
              },
            ],
            next_cursor: null,
          },
        },
      },
    },
    async ({ c, sql, access, sight, query: { limit, cursor, related, ...filter } }) => {
      if (filter.q !== undefined) refuseTextSearch(sight.anywhere)
      const binding = bindingOf('audit', filter, ...(related === 'true' ? ['related'] : []))
      const [beforeId] = cursor === undefined ? [null] : decodeCursor(cursor, binding, auditKey)
      // One more than asked for tells whether there is a next page.
      const page = { scope: access.topics, beforeId, limit: limit + 1 }
      const { entries: found, examinedTo } =
        related === 'true'
          ? await listRelatedAudit(sql, { to: relatedTo(filter), ...page })
          : await listAudit(sql, { filter, ...page })
      const entries = found.slice(0, limit)
      const last = found.length > limit ? entries.at(-1)!.id : examinedTo
      const next = last === null ? null : encodeCursor([String(last)], binding)
      const texts = await mapInSteps(entries, (entry) => entryJson(shown(entry, sight, 'anywhere')))
      return sendJsonText(c, `{"entries":[${texts.join()}],"next_cursor":${JSON.stringify(next)}}`)
    },
  ),
]

/** @throws {ApiError} 400 where it names no group and no run, or anything else too */
function relatedTo({ target_type, target_id, ...others }: AuditFilter) {
  if ((target_type !== 'group' && target_type !== 'run') || target_id === undefined || !isUuid(target_id))
    throw invalidField('related', 'goes with target_type=group or run and the id of one as target_id')
  const other = Object.entries(others).find(([, value]) => value !== undefined)
  if (other) throw invalidField(other[0], 'does not go with related=true')
  return { target_type, target_id: target_id.toLowerCase() } as const
}

/** `before` and `after` are JSON text already. */
function entryJson({ before, after, ...entry }: Shown<WrittenEntry>): string {
  const json = JSON.stringify({ ...entry, id: String(entry.id), at: timestamp(entry.at) })
  return `${json.slice(0, -1)},"before":${before},"after":${after}}`
}
