// What web pages may make a browser send. Without authentication, being on this machine is all that the API asks for, and
// a browser is on this machine, whatever page it shows. So a request has to name this machine as its host (a page whose
// name leads here by DNS rebinding does not), and a change has to come from the API's own origin. With authentication, a
// change from elsewhere needs a token in a header, which no page has that was not given one. A session (a cookie) counts
// only where the browser says that the page is the API's own.

import type { MiddlewareHandler } from 'hono'
import { ApiError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'
import { readCookie, sessionCookieName } from '../session/cookies.ts'
import { brokerHeaders } from './broker-tokens.ts'
import { hostName, hostOf, isLoopbackHost } from './hosts.ts'

export type BrowserGuardDeps = {
  /** Whether requests have to prove who sends them. */
  isAuthenticated: boolean
  /** The URL under which browsers reach the API; undefined: as the header Host says. */
  publicUrl?: string | undefined
  /** Names of hosts besides those of this machine; empty: with authentication, any. */
  allowedHosts?: readonly string[]
  /** Origins of other web pages that may use the API. */
  corsOrigins: readonly string[]
}

type Guarded = BrowserGuardDeps & {
  /** Paths that probes ask for by the address of a pod, as health checks. */
  probed: ReadonlySet<string>
}

/** @throws {ApiError} 403 where the host, or the origin of a change, is foreign */
export function createBrowserGuard({
  isAuthenticated,
  publicUrl,
  allowedHosts = [],
  corsOrigins,
  probed,
}: Guarded): MiddlewareHandler<ApiEnv> {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl)]
  const hosts = new Set([...allowedHosts, ...own.map(({ hostname }) => hostname)].map((host) => host.toLowerCase()))
  const origins = new Set([...corsOrigins, ...own.map(({ origin }) => origin)])
  const checksHost = (path: string) => !isAuthenticated || (allowedHosts.length > 0 && !probed.has(path))

  return async (c, next) => {
    const host = hostOf(c)
    if (checksHost(c.req.path) && !isLoopbackHost(host) && !hosts.has(hostName(host)))
      throw forbidden(`the host ${host} is not one of this API: name it in server.allowed_hosts`)
    const needsNoOrigin = safeMethods.has(c.req.method) || (isAuthenticated && carriesToken(c.req.header()))
    if (!needsNoOrigin) {
      const header = (name: string) => c.req.header(name)
      if (!comesFromOwnOrigin({ host, header, origins }))
        throw forbidden(
          'a page of another origin may not change anything: see server.public_url and server.cors_origins',
        )
      const hasSession = readCookie(header('cookie'), sessionCookieName({ publicUrl, host })) !== undefined
      if (hasSession && !provesOwnOrigin({ host, header, origins: new Set(own.map(({ origin }) => origin)) }))
        throw forbidden('a session changes things only from a page of the API’s own origin; elsewhere send a token')
    }
    await next()
  }
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What no browser adds by itself. Not cookies: it sends these with requests of any page. */
function carriesToken(headers: Record<string, string>): boolean {
  return ['authorization', ...Object.values(brokerHeaders)].some((name) => headers[name] !== undefined)
}

/** Whoever sends neither Origin nor Sec-Fetch-Site is no browser, or one that is older than both. */
function comesFromOwnOrigin({
  host,
  header,
  origins,
}: {
  host: string
  header: (name: string) => string | undefined
  origins: ReadonlySet<string>
}): boolean {
  const [site, origin] = [header('sec-fetch-site'), header('origin')]
  if (origin !== undefined && origins.has(origin)) return true
  // "none": the user has asked for it, and no page.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`
}

/** With a session nothing is taken for granted: the browser has to say that the page is ours. */
function provesOwnOrigin({ host, header, origins }: Parameters<typeof comesFromOwnOrigin>[0]): boolean {
  const [site, origin] = [header('sec-fetch-site'), header('origin')]
  if (site !== undefined) return site === 'same-origin'
  return origin !== undefined && (origins.has(origin) || origin === `http://${host}` || origin === `https://${host}`)
}

function forbidden(message: string): ApiError {
  return new ApiError('SYS_DLQ_FORBIDDEN', message)
}
