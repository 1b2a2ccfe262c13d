// Routes: which DLQ topic may speak for which original topic, and who has decided so.

import { setTimeout as sleep } from 'node:timers/promises'
import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { isOpen, routeStates } from 'dlq-core/domain/failure/topic-routes.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { countPending, decideRoute, holdRoute, listRoutes, type RouteRow } from 'dlq-core/queries/routes/routes.ts'
import { applyRoute } from 'dlq-core/runtime/apply-route.ts'
import * as v from 'valibot'
import { refuseUnallowedTarget } from '../../fleet/refuse-target.ts'
import { ApiError } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../../lists/cursor.ts'
import { shownText } from '../../masks/shown.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { reason, topicName, wholeNumber } from '../../request/request-schemas.ts'

const routeSchema = v.pipe(
  v.strictObject({
    dlq_topic: v.string(),
    original_topic: v.string(),
    state: v.pipe(
      v.picklist(routeStates),
      v.description(
        '`by_name` and `by_mapping` follow from the names and from the configuration, `waiting` is for somebody to decide.',
      ),
    ),
    open: v.pipe(v.boolean(), v.description('Messages of the DLQ topic are sent to the original topic.')),
    held: v.pipe(count, v.description('PENDING messages that are not sent by themselves because of the route.')),
    applying: v.pipe(
      v.boolean(),
      v.description('Messages from before the last change may not follow it yet; the retriers see to that.'),
    ),
    first_seen_at: timestampText,
    decided_at: v.nullable(timestampText),
    decided_by: v.nullable(v.string()),
    reason: v.nullable(v.string()),
  }),
  v.title('Route'),
)
const exampleRoute = {
  dlq_topic: 'shared-failures',
  original_topic: 'payments',
  state: 'approved',
  open: true,
  held: 0,
  applying: true,
  first_seen_at: '2026-02-20T10:30:00.000+00:00',
  decided_at: '2026-02-20T10:40:00.000+00:00',
  decided_by: 'maria',
  reason: 'both belong to us',
}

/** DLQ topic and original topic. */
const routeKey = v.strictTuple([keyParts.text, keyParts.text])

/** The most that one request changes, and waits for: somebody may hold a row. The retriers' sweep does the rest. */
const maxChunks = 20
const maxApplyMs = 5000

export const dlqRouteRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/routes',
      summary: 'Which DLQ topic may speak for which original topic',
      description: 'A token for some topics sees the routes that begin or end there.',
      role: 'read',
      masks: 'shown',
      query: v.strictObject({
        state: v.exactOptional(v.picklist(routeStates, `must be one of ${routeStates.join(', ')}`)),
        dlq_topic: v.exactOptional(topicName),
        original_topic: v.exactOptional(topicName),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 1000 }), '200'),
        cursor: v.exactOptional(v.string('must be given once')),
      }),
      answers: {
        200: {
          description: 'By DLQ topic and original topic.',
          schema: v.strictObject({ routes: v.array(routeSchema), next_cursor: v.nullable(v.string()) }),
          example: { routes: [exampleRoute], next_cursor: null },
        },
      },
    },
    async ({ c, sql, access: { topics: scope }, sight, query: { limit, cursor, ...filter } }) => {
      const binding = bindingOf('routes', filter.state, filter.dlq_topic, filter.original_topic)
      const key = cursor === undefined ? null : decodeCursor(cursor, binding, routeKey)
      const after = key && { dlq_topic: key[0], original_topic: key[1] }
      const routes = await listRoutes(sql, { filter, scope, after, limit: limit + 1 })
      const shown = routes.slice(0, limit)
      const last = routes.length > limit ? shown.at(-1)! : null
      return c.json({
        routes: await routesJson({ sql, sight }, shown),
        next_cursor: last && encodeCursor([last.dlq_topic, last.original_topic], binding),
      })
    },
  ),

  defineRoute(
    {
      method: 'put',
      path: '/api/v1/routes/:dlqTopic/:originalTopic',
      summary: 'Allow or forbid a DLQ topic to send to an original topic',
      description:
        'Once it is approved, the messages that wait are scheduled; once it is blocked, those that are scheduled wait. Needs a token whose topics include both.',
      role: 'write',
      masks: 'shown',
      params: v.object({ dlqTopic: topicName, originalTopic: topicName }),
      body: v.strictObject({
        state: v.picklist(['approved', 'blocked'], 'must be approved or blocked'),
        reason,
      }),
      bodyExample: { state: 'approved', reason: 'both belong to us' },
      answers: { 200: { description: 'The route as it is now.', schema: routeSchema, example: exampleRoute } },
      faults: ['SYS_DLQ_FORBIDDEN'],
    },
    async (call) => {
      const { c, sql, now, log, access, sight, by, policies, dlqPatterns, allowedTargets, wakeRetriers, signal } = call
      const { params, body } = call
      const route = { dlq_topic: params.dlqTopic, original_topic: params.originalTopic }
      for (const topic of Object.values(route)) {
        if (access.topics !== null && !matchesTopicGlobs(access.topics, topic))
          throw new ApiError('SYS_DLQ_FORBIDDEN', `this needs a token whose topics include ${topic}`)
      }
      const { state, reason = null } = body
      if (state === 'approved') refuseUnallowedTarget(allowedTargets, route.original_topic, 'originalTopic')
      await policies.refresh()
      const decided = await sql.begin(async (sql) => {
        const before = await holdRoute(sql, route)
        const after = await decideRoute(sql, { ...route, state, reason, actor: by.actor })
        if (before?.state === state && before.reason === reason) return after
        await writeAudit(sql, {
          ...by,
          ...{
            action: `route.${state}`,
            target_type: 'route',
            target_id: `${route.dlq_topic}/${route.original_topic}`,
          },
          ...{ ...route, reason, before: before && { state: before.state }, after: { state } },
        })
        return after
      })
      const deps = { sql, policyOf: policies.policyOf, dlqPatterns }
      const clock = { now, random: Math.random }
      const applied = applyRoute({ ...deps, ...clock }, decided, { maxChunks, signal }).catch((error) =>
        log.warn({ error, ...route }, 'route_not_applied'),
      )
      await Promise.race([applied, sleep(maxApplyMs, undefined, { ref: false })])
      wakeRetriers()
      const [json] = await routesJson({ sql, sight }, [decided])
      return c.json(json)
    },
  ),
]

async function routesJson({ sql, sight }: Pick<Call, 'sql' | 'sight'>, routes: readonly RouteRow[]) {
  const closed = routes.filter(({ state }) => !isOpen(state))
  const held = new Map(
    (await countPending(sql, closed)).map(({ dlq_topic, original_topic, pending }) => [
      `${dlq_topic} ${original_topic}`,
      pending,
    ]),
  )
  return routes.map(({ is_applying: applying, first_seen_at, decided_at, ...route }) => ({
    ...route,
    ...{ open: isOpen(route.state), held: held.get(`${route.dlq_topic} ${route.original_topic}`) ?? 0, applying },
    first_seen_at: timestamp(first_seen_at),
    decided_at: decided_at && timestamp(decided_at),
    reason: shownText(route.reason, sight, 'anywhere'),
  }))
}
