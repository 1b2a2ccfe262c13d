// The table in infra/docs/security.md says what each token sees. Here it is asked.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, expect, test } from 'vitest'
import { createTestApp } from '../test-app.ts'
import { canaryMasks, hasCanary, type Planted, plantCanary } from './test-canary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const page = readFileSync(new URL('../../../../infra/docs/security.md', import.meta.url), 'utf8')
const lines = page.slice(page.indexOf('## What each token sees')).split('\n')
const table = lines.slice(lines.findIndex((line) => line.startsWith('| `payloads` of the token'))).map((line) =>
  line
    .split('|')
    .map((cell) => cell.trim())
    .slice(1, -1),
)
const [head, , ...rest] = table
const rows = rest.slice(
  0,
  rest.findIndex((cells) => cells.length === 0),
)

let planted: Planted
beforeAll(async () => {
  planted = await plantCanary(database, service.sql)
})

type Detail = {
  payload: unknown
  key: { value: string }
  headers: { value: string | null }[]
  error_message: string
}

const hidden = '•••'

/** How texts are seen: with the canary, as nothing but "•••", or as what masks leave. */
function seen(part: unknown): string {
  const text = JSON.stringify(part)
  if (hasCanary(text)) return 'shown'
  return [part].flat().every((one) => one === hidden) ? 'hidden' : 'masked'
}

test('the table has a line for each kind of token', () => {
  expect(head).toEqual([
    '`payloads` of the token',
    'masks',
    'value',
    'key',
    'headers',
    'error texts',
    'bytes as stored',
    'search for what is hidden',
  ])
  expect(rows).toHaveLength(6)
})

test.each(rows)('%s, %s masks', async (who, configured, ...cells) => {
  const payloads = /^`(none|masked|full)`/.exec(who)![1] as 'none' | 'masked' | 'full'
  const unmask = who.includes('unmask=true') ? 'unmask=true' : ''
  const sha256 = createHash('sha256').update('secret').digest('hex')
  const masks = createMasks([{ ...canaryMasks[0]!, key: 'pseudonym' }], 'a secret of thirty-two characters')
  const app = createTestApp(service.sql, {
    auth: { tokens: [{ name: 'somebody', role: 'sys_admin', payloads, sha256 }] },
    masks: configured === 'with' ? masks : null,
  })
  const ask = (path: string) =>
    app(`GET ${path}${path.includes('?') ? '&' : '?'}${unmask}`, { headers: { authorization: 'Bearer secret' } })
  const message = `/api/v1/dlq/messages/${planted.id}`
  const detail = (await (await ask(message)).json()) as Detail
  const filter = encodeURIComponent(JSON.stringify({ customer: { email: 'a' } }))
  const said = (status: number) => (status === 403 ? 'refused' : status === 200 ? 'shown' : String(status))
  expect([
    seen(detail.payload),
    seen(detail.key.value),
    seen(detail.headers.map(({ value }) => value)),
    seen(detail.error_message),
    said((await ask(`${message}/value`)).status),
    said((await ask(`/api/v1/messages?payload=${filter}`)).status),
  ]).toEqual(cells)
})
