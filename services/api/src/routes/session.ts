// Sessions of browsers: a bearer token in, a cookie out.

import * as v from 'valibot'
import { hostOf } from '../access/hosts.ts'
import { ApiError } from '../http/api-error.ts'
import { defineRoute } from '../http/define-route.ts'

const path = '/api/v1/session'

const sessionSchema = v.pipe(
  v.strictObject({ actor: v.string(), expires_at: v.pipe(v.string(), v.isoTimestamp()) }),
  v.title('Session'),
)

export const sessionRoutes = [
  defineRoute(
    {
      method: 'post',
      path,
      summary: 'Begin a session',
      description:
        'Answers a bearer token with a cookie that stands for it, so that a browser need not keep the token. The session ends with the token, and after `auth.session.ttl` at the latest.',
      role: 'read',
      masks: 'none',
      answers: {
        201: {
          description: 'The session has begun.',
          schema: sessionSchema,
          example: { actor: 'maria', expires_at: '2026-09-20T14:00:00.000Z' },
          headers: { 'Set-Cookie': 'The session.' },
        },
      },
      faults: ['SYS_DLQ_CONFLICT'],
    },
    async ({ c, sessions, publicUrl, log }) => {
      const access = c.get('access')
      if (access.via === 'anonymous')
        throw new ApiError('SYS_DLQ_CONFLICT', 'no authentication is configured, so there is nothing to sign in to')
      if (access.via === 'session')
        throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'a session begins with a bearer token: send Authorization')
      const { cookie, expiresAt } = await sessions.begin(access, { publicUrl, host: hostOf(c) })
      log.info({ actor: access.actor, via: access.via, requestId: c.get('requestId') }, 'session_begun')
      c.header('Set-Cookie', cookie)
      return c.json({ actor: access.actor, expires_at: new Date(expiresAt).toISOString() }, 201)
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path,
      summary: 'End a session',
      description: 'Takes the cookie away. It needs no session: one that has ended can be taken away as well.',
      role: null,
      masks: 'none',
      answers: { 204: { description: 'The browser has no session any more.', headers: { 'Set-Cookie': 'Empty.' } } },
    },
    async ({ c, sessions, publicUrl }) => {
      c.header('Set-Cookie', sessions.end({ publicUrl, host: hostOf(c) }))
      return c.body(null, 204)
    },
  ),
]
