// Events, channels and deliveries of notifications, and what can be done with a channel or a delivery.

import { eventTypeNames, severities } from 'dlq-core/domain/notifications/event.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import {
  addDelivery,
  type Delivery,
  deliveryStates,
  listDeliveries,
  retryDelivery,
} from 'dlq-core/queries/notifications/deliveries.ts'
import { listEvents } from 'dlq-core/queries/notifications/events.ts'
import { enableChannel, listChannels } from 'dlq-core/queries/notifications/routes.ts'
import { channelKinds } from 'dlq-core/runtime/config/notification-schema.ts'
import * as v from 'valibot'
import { ApiError } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../../lists/cursor.ts'
import { hiddenEntries, shown } from '../../masks/shown.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { idOf, instant, reason, wholeNumber } from '../../request/request-schemas.ts'

const text = v.nullable(v.string())
const time = v.nullable(timestampText)

const eventSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    ...hiddenEntries,
    type: v.picklist(eventTypeNames),
    subject: v.string(),
    severity: v.picklist(severities),
    title: v.string(),
    ...{ original_topic: text, dlq_topic: text, group_id: text, run_id: text, owner: text },
    data: v.record(v.string(), v.union([v.string(), v.number(), v.boolean(), v.null()])),
    at: timestampText,
    ended_at: v.pipe(time, v.description('Of a condition, when it was over.')),
  }),
  v.title('NotificationEvent'),
)

const exampleEvent = {
  id: '0194f2c8-7a51-8e64-9d0a-2f8f2b9a3c11',
  type: 'sent.unread' as const,
  subject: 'topic/orders',
  severity: 'warning' as const,
  title: 'Retries sent to orders have not been read for a quarter of an hour',
  ...{ original_topic: 'orders', dlq_topic: null, group_id: null, run_id: null, owner: null },
  data: { since: '2026-02-20T10:30:00.000Z' },
  at: '2026-02-20T10:45:10.000+00:00',
  ended_at: null,
}

const channelSchema = v.pipe(
  v.strictObject({
    name: v.string(),
    kind: v.picklist(channelKinds),
    host: v.pipe(v.string(), v.description('Empty where the retrier cannot read the file with the address.')),
    disabled_at: v.pipe(time, v.description('When its receiver said 410. A test enables it again.')),
    delivered_at: time,
    last_error: text,
  }),
  v.title('NotificationChannel'),
)

const deliverySchema = v.pipe(
  v.strictObject({
    id: v.string(),
    channel: v.string(),
    route: text,
    kind: v.picklist(['begin', 'again', 'end', 'test']),
    events: count,
    state: v.picklist(deliveryStates),
    attempts: count,
    send_at: timestampText,
    last_status: v.nullable(count),
    last_error: text,
    created_at: timestampText,
    settled_at: time,
  }),
  v.title('NotificationDelivery'),
)

const exampleDelivery = {
  id: '0194f2c8-7a51-4e64-9d0a-2f8f2b9a3c12',
  ...{
    channel: 'on-call',
    route: 'billing',
    kind: 'begin' as const,
    events: 1,
    state: 'delivered' as const,
    attempts: 1,
  },
  ...{ send_at: '2026-02-20T10:45:10.000+00:00', last_status: 200, last_error: null },
  ...{ created_at: '2026-02-20T10:45:10.000+00:00', settled_at: '2026-02-20T10:45:10.400+00:00' },
}

function deliveryJson({ event_ids: ids, ...delivery }: Delivery) {
  return {
    ...delivery,
    events: ids.length,
    send_at: timestamp(delivery.send_at),
    created_at: timestamp(delivery.created_at),
    settled_at: delivery.settled_at && timestamp(delivery.settled_at),
  }
}

const page = {
  before: v.optional(v.pipe(instant, v.description('Only those from before this time.'))),
  limit: v.optional(wholeNumber('limit', { min: 1, max: 500 }), '100'),
  cursor: v.exactOptional(v.string('must be given once')),
}

/** When it was, and its id: several may be of one millisecond. */
const placeKey = v.strictTuple([keyParts.time, keyParts.uuid])

function placeIn(binding: string, cursor: string | undefined) {
  const key = cursor === undefined ? null : decodeCursor(cursor, binding, placeKey)
  return key && { at: key[0], id: key[1] }
}

/** The first `limit` of one more, and the cursor of the next page. */
function pageOf<Row extends { id: string; place: string }>(found: readonly Row[], limit: number, binding: string) {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1)! : null
  return { rows, next_cursor: last && encodeCursor([last.place, last.id], binding) }
}

export const notificationReadRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/notifications/events',
      summary: 'What somebody should have heard of, the newest first',
      description: 'Transitions and conditions of the last 30 days, for the token’s topics.',
      role: 'read',
      masks: 'shown',
      query: v.strictObject({
        type: v.optional(v.picklist(eventTypeNames, `must be one of ${eventTypeNames.join(', ')}`)),
        open: v.pipe(v.optional(v.literal('true', 'must be true')), v.description('Only conditions that last.')),
        ...page,
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({ events: v.array(eventSchema), next_cursor: text }),
          example: { events: [exampleEvent], next_cursor: null },
        },
      },
    },
    async ({ c, sql, access, sight, query: { type = null, open, before = null, limit, cursor } }) => {
      const binding = bindingOf('events', type, open, before)
      const found = await listEvents(sql, {
        ...{ type, open: open === 'true', before, after: placeIn(binding, cursor), scope: access.topics },
        // One more than is shown, to know whether there are more.
        limit: limit + 1,
      })
      const { rows, next_cursor } = pageOf(found, limit, binding)
      return c.json({
        events: rows
          .map(({ place: _, ...event }) => shown(event, sight, 'anywhere'))
          .map((event) => ({
            ...event,
            at: timestamp(event.at),
            ended_at: event.ended_at && timestamp(event.ended_at),
          })),
        next_cursor,
      })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/channels',
      summary: 'Where notifications can be sent to',
      description:
        'As the retriers have them in their configuration: name, kind and host. Addresses and secrets are in files.',
      role: 'read',
      masks: 'none',
      allTopics: true,
      answers: {
        200: {
          description: 'By name.',
          schema: v.strictObject({ channels: v.array(channelSchema) }),
          example: {
            channels: [
              {
                ...{ name: 'on-call', kind: 'slack' as const, host: 'hooks.slack.com', disabled_at: null },
                ...{ delivered_at: '2026-02-20T10:45:10.400+00:00', last_error: null },
              },
            ],
          },
        },
      },
    },
    async ({ c, sql }) =>
      c.json({
        channels: (await listChannels(sql)).map(({ seen_at: _, disabled_at, delivered_at, ...channel }) => ({
          ...channel,
          disabled_at: disabled_at && timestamp(disabled_at),
          delivered_at: delivered_at && timestamp(delivered_at),
        })),
      }),
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/channels/:name/test',
      summary: 'Send a test to a channel',
      description:
        'A retrier sends it; `GET /api/v1/deliveries` shows what became of it. A channel that was disabled is enabled first.',
      role: 'admin',
      masks: 'none',
      allTopics: true,
      params: v.strictObject({
        name: v.pipe(
          v.string(),
          v.regex(/^[a-z0-9][a-z0-9-]{0,99}$/, 'invalid name: it must be small letters, digits and "-", at most 100'),
        ),
      }),
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'a new address' },
      answers: {
        202: {
          description: 'A retrier will send it.',
          schema: v.strictObject({ delivery: v.string() }),
          example: { delivery: exampleDelivery.id },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, now, by, params: { name }, body }) => {
      const delivery = await sql.begin(async (sql) => {
        if (!(await enableChannel(sql, name))) throw new ApiError('SYS_DLQ_NOT_FOUND', `no such channel: ${name}`)
        const target = { target_type: 'channel', target_id: name, reason: body.reason }
        await writeAudit(sql, { ...by, action: 'channel.test', ...target })
        return addDelivery(sql, { channel: name, route: null, kind: 'test', eventIds: [], sendAt: now() })
      })
      return c.json({ delivery }, 202)
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/deliveries',
      summary: 'What was sent to which channel, the newest first',
      role: 'read',
      masks: 'none',
      allTopics: true,
      query: v.strictObject({
        state: v.optional(v.picklist(deliveryStates, `must be one of ${deliveryStates.join(', ')}`)),
        ...page,
      }),
      answers: {
        200: {
          description: 'One page; of the last 30 days.',
          schema: v.strictObject({ deliveries: v.array(deliverySchema), next_cursor: text }),
          example: { deliveries: [exampleDelivery], next_cursor: null },
        },
      },
    },
    async ({ c, sql, query: { state = null, before = null, limit, cursor } }) => {
      const binding = bindingOf('deliveries', state, before)
      const after = placeIn(binding, cursor)
      const { rows, next_cursor } = pageOf(
        await listDeliveries(sql, { state, before, after, limit: limit + 1 }),
        limit,
        binding,
      )
      return c.json({ deliveries: rows.map(({ place: _, ...delivery }) => deliveryJson(delivery)), next_cursor })
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/deliveries/:id/retry',
      summary: 'Send a delivery that has failed for good once more',
      description: 'With all of its tries.',
      role: 'write',
      masks: 'none',
      allTopics: true,
      params: v.strictObject({ id: idOf('delivery') }),
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'the receiver is back' },
      answers: {
        202: {
          description: 'A retrier will send it.',
          schema: deliverySchema,
          example: { ...exampleDelivery, state: 'waiting' as const },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, by, params: { id }, body }) => {
      const delivery = await sql.begin(async (sql) => {
        const waiting = await retryDelivery(sql, id)
        if (waiting === null) throw new ApiError('SYS_DLQ_NOT_FOUND', `no dead delivery of this id: ${id}`)
        const target = { target_type: 'delivery', target_id: id, reason: body.reason }
        await writeAudit(sql, { ...by, action: 'delivery.retry', ...target })
        return waiting
      })
      return c.json(deliveryJson(delivery), 202)
    },
  ),
]
