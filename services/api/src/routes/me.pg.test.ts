import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import type { Access } from '../access/access.ts'
import { answerOf, createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const me = async (access?: Access) =>
  (await answerOf(createTestApp(service.sql, access && { authenticate: async () => access })('GET /api/v1/me'))).body

test('everybody may ask who they are, in which role, for which topics, and until when', async () => {
  expect(await me()).toEqual({
    ...{ actor: 'anonymous', role: 'sys_admin', topics: null, via: 'anonymous', expires_at: null },
    grants: [{ role: 'sys_admin', topics: null }],
    ...{ payloads: 'masked', exports: true },
  })
  const grants = [
    { role: 'write' as const, topics: ['pay*'] },
    { role: 'read' as const, topics: ['orders*'] },
  ]
  const expiresAt = Date.parse('2030-01-01T00:00:00Z')
  const sees = { payloads: 'none' as const, exports: false }
  expect(await me({ actor: 'maria', grants, via: 'jwt', expiresAt, ...sees })).toEqual({
    ...sees,
    ...{ actor: 'maria', role: 'sys_operator', topics: ['pay*', 'orders*'], via: 'jwt' },
    expires_at: '2030-01-01T00:00:00.000+00:00',
    grants: [
      { role: 'sys_operator', topics: ['pay*'] },
      { role: 'sys_auditor', topics: ['orders*'] },
    ],
  })
})
