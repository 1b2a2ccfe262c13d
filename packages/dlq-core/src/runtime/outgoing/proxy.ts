// The way out through a company's proxy, by the variables that Node knows: with NODE_USE_ENV_PROXY=1 its own requests go
// by HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Agents that we make do so only if they are told.

import type { AgentOptions } from 'node:http'
import type { Config } from '../config/config-schema.ts'

/** For the options of an agent; none where Node's own requests use no proxy either. */
export function proxyOptions(): Pick<AgentOptions, 'proxyEnv'> {
  return usesProxy(process.env) ? { proxyEnv: process.env } : {}
}

/** What to say of a proxy that is named, and that nothing uses. */
export function proxyWarnings(config: Config, env: NodeJS.ProcessEnv): string[] {
  const named = ['HTTPS_PROXY', 'https_proxy'].find((name) => env[name])
  if (named === undefined || usesProxy(env) || !callsOut(config)) return []
  return [`${named}: nothing uses it without NODE_USE_ENV_PROXY=1`]
}

function usesProxy(env: NodeJS.ProcessEnv): boolean {
  return env.NODE_USE_ENV_PROXY === '1'
}

function callsOut({ notifications, schemas, auth, kafka }: Config): boolean {
  const called = [notifications.heartbeat_url_file, schemas, auth.jwt.jwks_url, kafka.sasl.token_url]
  return notifications.channels.length > 0 || called.some(Boolean)
}
