// Who hears of what, by which channel: rows that people change.

import { isDeepStrictEqual } from 'node:util'
import { eventTypeNames, severities } from 'dlq-core/domain/notifications/event.ts'
import { parseQuietHours } from 'dlq-core/domain/notifications/quiet-hours.ts'
import { formatDuration } from 'dlq-core/domain/retry/duration.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import {
  deleteNotificationRoute,
  findNotificationRoute,
  listChannels,
  listNotificationRoutes,
  type NotificationRoute,
  putNotificationRoute,
} from 'dlq-core/queries/notifications/routes.ts'
import { anyDuration } from 'dlq-core/runtime/config/config-values.ts'
import * as v from 'valibot'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { instant, reason } from '../../request/request-schemas.ts'

const dayMs = 86_400_000

const routeSchema = v.pipe(
  v.strictObject({
    name: v.string(),
    channel: v.string(),
    types: v.array(v.string()),
    topics: v.array(v.string()),
    owners: v.array(v.string()),
    min_severity: v.picklist(severities),
    digest: v.string(),
    repeat_every: v.string(),
    quiet: v.nullable(v.string()),
    muted_until: v.nullable(timestampText),
    dead_threshold: v.nullable(count),
    updated_at: timestampText,
  }),
  v.title('NotificationRoute'),
)

const exampleRoute = {
  name: 'billing',
  channel: 'on-call',
  ...{ types: ['group.new', 'sent.unread'], topics: ['orders.*'], owners: [], min_severity: 'warning' as const },
  ...{ digest: '5m', repeat_every: '4h', quiet: '22:00-07:00 Europe/Berlin', muted_until: null, dead_threshold: 1000 },
  updated_at: '2026-02-20T10:30:00.000+00:00',
}

function routeJson({ digestMs, repeatMs, ...route }: NotificationRoute): v.InferOutput<typeof routeSchema> {
  return {
    ...{ ...route, types: [...route.types], topics: [...route.topics], owners: [...route.owners] },
    digest: formatDuration(digestMs),
    repeat_every: formatDuration(repeatMs),
    muted_until: route.muted_until && timestamp(route.muted_until),
    updated_at: timestamp(route.updated_at),
  }
}

const listOfTexts = v.pipe(
  v.array(
    v.pipe(
      v.string('must be text'),
      v.minLength(1, 'must not be empty'),
      v.maxLength(255, 'must be at most 255 characters'),
    ),
  ),
  v.maxLength(100, 'must not have more than 100 entries'),
)

const routeBody = v.strictObject({
  channel: v.pipe(v.string('must be text'), v.maxLength(100, 'must be at most 100 characters')),
  types: v.optional(v.array(v.picklist(eventTypeNames, `must be of ${eventTypeNames.join(', ')}`)), []),
  topics: v.optional(listOfTexts, []),
  owners: v.optional(listOfTexts, []),
  min_severity: v.optional(v.picklist(severities, `must be one of ${severities.join(', ')}`), 'info'),
  digest: v.optional(v.pipe(anyDuration, v.maxValue(dayMs, 'must be at most 1d')), '5m'),
  repeat_every: v.optional(
    v.pipe(anyDuration, v.minValue(60_000, 'must be at least 1m'), v.maxValue(30 * dayMs, 'must be at most 30d')),
    '4h',
  ),
  quiet: v.optional(
    v.nullable(
      v.pipe(
        v.string('must be text'),
        v.check(
          (text) => parseQuietHours(text) !== null,
          'must be hours and a time zone, such as "22:00-07:00 Europe/Berlin"',
        ),
      ),
    ),
    null,
  ),
  muted_until: v.optional(v.nullable(instant), null),
  dead_threshold: v.optional(
    v.nullable(
      v.pipe(
        v.number('must be a number'),
        v.integer('must be a whole number'),
        v.minValue(1, 'must be at least 1'),
        v.maxValue(1_000_000_000, 'must be at most 1000000000'),
      ),
    ),
    null,
  ),
  reason,
})

const routePath = v.strictObject({
  name: v.pipe(
    v.string(),
    v.regex(/^[a-z0-9][a-z0-9-]{0,99}$/, 'invalid name: it must be small letters, digits and "-", at most 100'),
  ),
})

export const notificationRouteRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/notifications/routes',
      summary: 'Who hears of what',
      role: 'read',
      masks: 'none',
      allTopics: true,
      answers: {
        200: {
          description: 'By name.',
          schema: v.strictObject({ routes: v.array(routeSchema) }),
          example: { routes: [exampleRoute] },
        },
      },
    },
    async ({ c, sql }) => c.json({ routes: (await listNotificationRoutes(sql)).map(routeJson) }),
  ),

  defineRoute(
    {
      method: 'put',
      path: '/api/v1/notifications/routes/:name',
      summary: 'Create or replace a route',
      description: [
        'An empty list of `types`, `topics` or `owners` takes all. The first event of a route is sent at once, further ones',
        'of the time `digest` go out together; a condition that lasts is said again after `repeat_every`, and its end once.',
        '`quiet` gathers until its end; critical events go through.',
      ].join(' '),
      role: 'admin',
      masks: 'none',
      allTopics: true,
      params: routePath,
      body: routeBody,
      bodyExample: { channel: 'on-call', topics: ['orders.*'], min_severity: 'warning' },
      answers: { 200: { description: 'The route as it is now.', schema: routeSchema, example: exampleRoute } },
    },
    async ({ c, sql, by, params: { name }, body }) => {
      const { reason, digest: digestMs, repeat_every: repeatMs, ...rules } = body
      if (!(await listChannels(sql)).some((channel) => channel.name === rules.channel))
        throw invalidField('channel', 'is in no retrier’s notifications.channels; GET /api/v1/channels lists them')
      const route = await sql.begin(async (sql) => {
        const before = await findNotificationRoute(sql, name)
        const wanted = { name, digestMs, repeatMs, ...rules }
        if (before && isDeepStrictEqual(before, { ...before, ...wanted })) return before
        const after = await putNotificationRoute(sql, wanted)
        await writeAudit(sql, {
          ...{ ...by, action: 'notification.route.put', target_type: 'notification-route', target_id: name, reason },
          ...{ before: before && routeJson(before), after: routeJson(after) },
        })
        return after
      })
      return c.json(routeJson(route))
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/api/v1/notifications/routes/:name',
      summary: 'Delete a route',
      role: 'admin',
      masks: 'none',
      allTopics: true,
      params: routePath,
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'the team is gone' },
      answers: { 204: { description: 'It is deleted.' } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, by, params: { name }, body }) => {
      await sql.begin(async (sql) => {
        const before = await findNotificationRoute(sql, name)
        if (before === null || !(await deleteNotificationRoute(sql, name)))
          throw new ApiError('SYS_DLQ_NOT_FOUND', `no such route: ${name}`)
        await writeAudit(sql, {
          ...{ ...by, action: 'notification.route.delete', target_type: 'notification-route', target_id: name },
          ...{ reason: body.reason, before: routeJson(before) },
        })
      })
      return c.body(null, 204)
    },
  ),
]
