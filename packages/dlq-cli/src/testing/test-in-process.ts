// Commands run in this process, before an API of the test's own database and a person who answers what they ask. For what
// a process of its own cannot be: asked, and told about what happens meanwhile.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestApp, type TestAppOptions } from 'api/src/test-app.ts'
import { type ListeningServer, listen } from 'dlq-core/runtime/operations-server.ts'
import type { ServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { afterAll, beforeAll } from 'vitest'
import { writeContexts } from '../config/contexts.ts'
import { runCli } from '../program.ts'
import type { Terminal } from '../terminal.ts'
import type { Ended } from './test-bundle.ts'

/** Somebody in front of the terminal. Without `ask` or `confirm` nobody can be asked. */
export type Person = Partial<Pick<Terminal, 'ask' | 'columns' | 'confirm' | 'env'>> & {
  /** What happens after a run was surveyed, and before it is asked for. */
  meanwhile?: () => Promise<unknown>
}

export type InProcess = { run(args: readonly string[], person?: Person): Promise<Ended> }

/**
 * Call after `useServiceDatabase`. Contexts "shop" and, with `--production`, "prod" name the API; "shop" is current. Where
 * the API has `auth`, they send `token`.
 */
export function useInProcess(
  service: ServiceDatabase,
  { auth = {}, token }: Pick<TestAppOptions, 'auth'> & { token?: string } = {},
): InProcess {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-cli-'))
  const env = { XDG_CONFIG_HOME: folder }
  let server: ListeningServer | undefined
  let beforeRun: Person['meanwhile']
  beforeAll(async () => {
    const app = createTestApp(service.sql, { auth })
    const answer = async (request: Request) => {
      const { pathname, search } = new URL(request.url)
      const body = request.body ? await request.text() : null
      if (request.method === 'POST' && pathname === '/api/v1/runs' && !body?.includes('dry_run')) await beforeRun?.()
      const headers = new Headers(request.headers)
      // The test's application reads each answer, to see whether its route has declared it.
      headers.delete('accept-encoding')
      return app(`${request.method} ${pathname}${search}`, { headers, body })
    }
    server = await listen({ fetch: answer as never }, { host: '127.0.0.1', port: 0, keep_alive: 1000 })
    const shop = { api: server.url, ...(token !== undefined && { token_command: `echo ${token}` }) }
    writeContexts(env, { current: 'shop', contexts: { shop, prod: { ...shop, production: true } } })
  })
  afterAll(async () => {
    await server?.close()
    rmSync(folder, { recursive: true })
  })
  return {
    async run(args, { env: more, meanwhile, ...person } = {}) {
      beforeRun = meanwhile
      let [stdout, stderr] = ['', '']
      const nobody = () => Promise.reject(new Error('nobody was to be asked'))
      const code = await runCli(args, {
        env: { ...env, ...more },
        write: async (chunk) => {
          stdout += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
        },
        note: (line) => {
          stderr += `${line}\n`
        },
        columns: null,
        interactive: person.ask !== undefined || person.confirm !== undefined,
        ...{ confirm: nobody, ask: nobody, ...person },
        signal: new AbortController().signal,
      })
      return { code, stdout, stderr }
    },
  }
}
