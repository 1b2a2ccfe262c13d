// What the console needs to know before somebody has signed in.

import { consoleConfigSchema } from '../console/console-config.ts'
import { ApiError } from '../http/api-error.ts'
import { defineRoute } from '../http/define-route.ts'

export const consoleRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/console/config.json',
      summary: 'What the console needs before somebody signs in',
      description: 'Holds no secrets. A console that was loaded earlier compares `build` to know of a newer one.',
      role: null,
      masks: 'none',
      answers: {
        200: {
          description: 'The settings of the console.',
          schema: consoleConfigSchema,
          example: {
            version: '0.1.0',
            build: '3f5c0a9b1d2e',
            environment: 'production',
            title: 'dlq-manager',
            sign_in: ['token', 'oidc'],
            links: { trace: 'https://traces.example.com/trace/{trace_id}', source: null, ticket: null, logs: null },
            payloads: 'shown',
            deployments: [
              { name: 'Europe', url: 'https://dlq.eu.example.com' },
              { name: 'America', url: 'https://dlq.us.example.com' },
            ],
          },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, consoleConfig }) => {
      if (consoleConfig === null) throw new ApiError('SYS_DLQ_NOT_FOUND', 'the console is off: see server.console')
      return c.json(consoleConfig)
    },
  ),
]
