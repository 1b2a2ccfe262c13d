// Who asks.

import { payloadSights } from 'dlq-core/runtime/config/auth-schema.ts'
import * as v from 'valibot'
import { roleNames, roles } from '../access/access.ts'
import { defineRoute } from '../http/define-route.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'

const role = v.picklist(Object.values(roleNames))
const topics = v.pipe(v.nullable(v.array(v.string())), v.description('Globs of topics; null: all.'))

const meSchema = v.pipe(
  v.strictObject({
    actor: v.pipe(v.string(), v.description('The name in the audit.')),
    role: v.pipe(role, v.description('The greatest of the roles.')),
    topics,
    via: v.picklist(['anonymous', 'token', 'jwt', 'session']),
    expires_at: v.nullable(timestampText),
    grants: v.pipe(
      v.array(v.strictObject({ role, topics })),
      v.description('Each role, with the topics in which it holds.'),
    ),
    payloads: v.pipe(
      v.picklist(payloadSights),
      v.description(
        'none: no key, value, header or error text. masked: what masks leave. full: all, with unmask=true.',
      ),
    ),
    exports: v.pipe(v.boolean(), v.description('Whether messages may be exported.')),
  }),
  v.title('Me'),
)

export const meRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/me',
      summary: 'Who asks: name, role and topics',
      role: 'read',
      masks: 'none',
      answers: {
        200: {
          description: 'The one whose token or session the request has.',
          schema: meSchema,
          example: {
            actor: 'maria',
            role: 'sys_operator',
            topics: ['orders.*'],
            via: 'token',
            expires_at: '2026-12-31T00:00:00.000+00:00',
            grants: [{ role: 'sys_operator', topics: ['orders.*'] }],
            ...{ payloads: 'masked', exports: true },
          },
        },
      },
    },
    async ({ c, access: { topics, payloads, exports } }) => {
      const { actor, grants, via = 'token', expiresAt } = c.get('access')
      const role = roles.findLast((role) => grants.some((grant) => grant.role === role))!
      return c.json({
        actor,
        role: roleNames[role],
        topics,
        via,
        expires_at: expiresAt === undefined ? null : timestamp(new Date(expiresAt)),
        grants: grants.map((grant) => ({ role: roleNames[grant.role], topics: grant.topics })),
        ...{ payloads, exports },
      })
    },
  ),
]
