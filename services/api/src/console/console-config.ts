// What the console is told before somebody has signed in: nothing secret.

import { isAuthConfigured } from 'dlq-core/runtime/config/auth-schema.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import * as v from 'valibot'

const link = v.nullable(v.string())

export const consoleConfigSchema = v.pipe(
  v.strictObject({
    version: v.string(),
    build: v.pipe(v.string(), v.description('Another build of the console has another one.')),
    environment: v.string(),
    title: v.string(),
    sign_in: v.pipe(
      v.array(v.picklist(['token', 'oidc'])),
      v.description('The ways to sign in; none where no authentication is configured.'),
    ),
    links: v.pipe(
      v.strictObject({ trace: link, source: link, ticket: link, logs: link }),
      v.description('Addresses of other tools, with names in braces for what the console fills in.'),
    ),
    payloads: v.picklist(['shown', 'hidden']),
    deployments: v.pipe(
      v.array(v.strictObject({ name: v.string(), url: v.string() })),
      v.description('Where the console can lead to, its own deployment among them; empty where none are configured.'),
    ),
  }),
  v.title('ConsoleConfig'),
)

export type ConsoleConfig = v.InferOutput<typeof consoleConfigSchema>

export function consoleConfigOf(
  { app, auth, console }: Pick<Config, 'app' | 'auth' | 'console'>,
  { build }: { build: string },
): ConsoleConfig {
  const { trace = null, source = null, ticket = null, logs = null } = console.links
  return {
    version: app.version,
    build,
    environment: app.environment,
    title: console.title,
    sign_in: [
      ...(auth.oidc.client_id === undefined ? [] : (['oidc'] as const)),
      ...(isAuthConfigured(auth) ? (['token'] as const) : []),
    ],
    links: { trace, source, ticket, logs },
    payloads: console.payloads,
    deployments: console.deployments,
  }
}
