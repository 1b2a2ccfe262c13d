import { beforeEach, expect, test, vi } from 'vitest'

const url = 'https://ops.example.com/dlq/console/'
const production = { environment: 'production', payloads: 'hidden', sign_in: [], links: {}, build: 'a' }

/** The modules of a page that was just opened; `answers` are those of the server, one after the other. */
async function openPage(...answers: Response[]) {
  vi.resetModules()
  vi.stubGlobal('document', { baseURI: url, documentElement: { dataset: {} } })
  vi.stubGlobal('fetch', async () => answers.shift() ?? Promise.reject(new TypeError('no answer')))
  const [{ configQuery }, { readyQuery }, settings, { createQueryClient }] = await Promise.all([
    import('./session.ts'),
    import('./queries/system.ts'),
    import('./settings.ts'),
    import('./query-client.ts'),
  ])
  const client = createQueryClient({ onLeftFault: expect.unreachable })
  client.setDefaultOptions({ queries: { retry: false } })
  return { client, configQuery, readyQuery, ...settings }
}

const json = (status: number, body: unknown) => Response.json(body, { status })
const ofProxy = (status: number) => new Response('<html>Bad Gateway</html>', { status })

beforeEach(() => () => vi.unstubAllGlobals())

test('an installation of production stays one while the server does not say what it is', async () => {
  const { client, configQuery } = await openPage(json(200, production), ofProxy(502), json(429, { error: {} }))
  await client.fetchQuery(configQuery)
  for (const status of [502, 429]) {
    await expect(client.fetchQuery({ ...configQuery, staleTime: 0 })).rejects.toMatchObject({ status })
    expect(client.getQueryData(configQuery.queryKey)).toMatchObject({ environment: 'production' })
  }
})

test('whether the API is ready is only what it says itself', async () => {
  const unavailable = { status: 'unavailable', checks: { database: 'no answer' } }
  const refused = { error: { code: 'SYS_DLQ_RATE_LIMITED', message: 'later', request_id: 'r', details: [] } }
  const { client, readyQuery } = await openPage(json(503, unavailable), ofProxy(502), json(429, refused))
  expect(await client.fetchQuery(readyQuery)).toEqual(unavailable)
  await expect(client.fetchQuery({ ...readyQuery, staleTime: 0 })).rejects.toMatchObject({ status: 502 })
  await expect(client.fetchQuery({ ...readyQuery, staleTime: 0 })).rejects.toMatchObject({ message: 'later' })
})

test('the first settings are those that the server wants', async () => {
  const { client, configQuery, settings, changeSettings, forgetSettings } = await openPage(json(200, production))
  await client.fetchQuery(configQuery)
  expect(settings.get().payloads).toBe('hidden')
  changeSettings({ payloads: 'shown', zone: 'utc' })
  forgetSettings()
  expect(settings.get()).toMatchObject({ payloads: 'hidden', zone: 'local' })
})

test('a role for some topics is not enough for what reaches all of them', async () => {
  vi.stubGlobal('document', { baseURI: url, documentElement: { dataset: {} } })
  const { missingRole } = await import('./session.ts')
  const of = (...grants: { role: 'sys_auditor' | 'sys_operator' | 'sys_admin'; topics: string[] | null }[]) => ({
    ...{ actor: 'maria', role: grants.at(-1)!.role, topics: null, grants, via: 'token' as const },
    ...{ expires_at: null, payloads: 'masked' as const, exports: true },
  })
  const all = { role: 'sys_operator' as const, topics: null }
  const some = { role: 'sys_admin' as const, topics: ['orders.*'] }
  expect(missingRole(of(all), 'sys_operator', { ofAll: true })).toBeNull()
  expect(missingRole(of(all), 'sys_admin')).toBe('needs the role sys_admin; you have sys_operator')
  expect(missingRole(of(some), 'sys_admin')).toBeNull()
  expect(missingRole(of(some), 'sys_operator', { ofAll: true })).toMatch(/for all topics; yours is for some/)
  expect(missingRole(of(all, some), 'sys_operator', { ofAll: true })).toBeNull()
  expect(missingRole(of(all, some), 'sys_admin', { ofAll: true })).toMatch(/for all topics/)
})
