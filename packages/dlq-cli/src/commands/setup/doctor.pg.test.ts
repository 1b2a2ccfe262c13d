// What `dlq doctor` says to whom.
import { createHash } from 'node:crypto'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { useInProcess } from '../../testing/test-in-process.ts'

const token = 'limited-token'
const sha256 = createHash('sha256').update(token).digest('hex')
const cli = useInProcess(useServiceDatabase(useDatabase()), {
  auth: { tokens: [{ name: 'limited', sha256, role: 'sys_operator', topics: ['orders'] }] },
  token,
})

test('a doctor with a token for some topics does not say that there are no DLQ topics', async () => {
  const { checks } = JSON.parse((await cli.run(['doctor', '--json'])).stdout)
  expect(checks).toContainEqual({ check: 'ingestion', level: 'ok', text: 'no DLQ topic is shown to this token' })
})
