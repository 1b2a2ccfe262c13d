// Health checks and metrics, with the same answers as the other services (dlq-core's operations-server.ts).

import * as v from 'valibot'
import { defineRoute } from '../../http/define-route.ts'

const readinessSchema = v.strictObject({
  status: v.picklist(['ready', 'unavailable']),
  checks: v.record(v.string(), v.string()),
})

export const operationRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/healthz',
      summary: 'Whether the process lives',
      role: null,
      masks: 'none',
      answers: {
        200: {
          description: 'The process lives.',
          schema: v.strictObject({ status: v.literal('ok') }),
          example: { status: 'ok' },
        },
      },
    },
    async ({ c }) => c.json({ status: 'ok' }),
  ),

  defineRoute(
    {
      method: 'get',
      path: '/readyz',
      summary: 'Whether the process can do its work now',
      role: null,
      masks: 'none',
      answers: {
        200: {
          description: 'The process can do its work.',
          schema: readinessSchema,
          example: { status: 'ready', checks: { database: 'ok' } },
        },
        503: {
          description: 'The process cannot do its work, or is about to stop.',
          schema: readinessSchema,
          example: { status: 'unavailable', checks: { database: 'ok', service: 'stopping' } },
        },
      },
    },
    async ({ c, readiness }) => {
      const { ready, checks } = await readiness.check()
      return c.json({ status: ready ? 'ready' : 'unavailable', checks }, ready ? 200 : 503)
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      role: null,
      masks: 'none',
      answers: { 200: { description: 'The metrics in the text format.', types: ['text/plain'] } },
    },
    async ({ c, registry }) => c.text(await registry.metrics(), 200, { 'content-type': registry.contentType }),
  ),
]
