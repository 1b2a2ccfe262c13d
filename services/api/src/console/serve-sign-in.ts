// The two addresses of signing in at an identity provider: /console/login sends the browser there, and it comes back to
// /console/callback. The page that was open is where it ends, with a session or with the reason why there is none.

import type { Log } from 'dlq-core/runtime/log.ts'
import type { Context, Hono } from 'hono'
import { hostOf, isLoopbackHost } from '../access/hosts.ts'
import { ApiError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'
import { loginCookieName, readCookie, setCookie } from '../session/cookies.ts'
import { loginSeconds, type Oidc } from '../session/oidc.ts'
import type { Sessions } from '../session/sessions.ts'

export type SignInDeps = {
  oidc: Oidc
  sessions: Sessions
  publicUrl: string | undefined
  prefix: string
  log: Log
}

export function serveSignIn(app: Hono<ApiEnv>, { oidc, sessions, publicUrl, prefix, log }: SignInDeps): void {
  const home = `${prefix}/console/`
  const placeOf = (c: Context) => ({ publicUrl, host: hostOf(c) })

  app.get('/console/login', async (c) => {
    const returnTo = ownPath(c.req.query('return'), home)
    try {
      const { location, sealed } = await oidc.begin({ redirectUri: redirectUriOf(c, publicUrl), returnTo })
      // Lax: the provider's page sends the browser back.
      const cookie = setCookie(loginCookieName(placeOf(c)), sealed, { maxAgeSeconds: loginSeconds, sameSite: 'Lax' })
      c.header('Set-Cookie', cookie)
      return c.redirect(location, 302)
    } catch (error) {
      if (error instanceof ApiError) throw error
      log.warn({ error, requestId: c.get('requestId') }, 'sign_in_failed')
      return c.redirect(signInPage(home, { error: 'provider', returnTo }), 302)
    }
  })

  app.get('/console/callback', async (c) => {
    const name = loginCookieName(placeOf(c))
    const query = new URL(c.req.url).searchParams
    const sealed = readCookie(c.req.header('cookie'), name)
    const result = await oidc.finish({ query, sealed, redirectUri: redirectUriOf(c, publicUrl) })
    c.header('Set-Cookie', setCookie(name, '', { maxAgeSeconds: 0, sameSite: 'Lax' }))
    const failed = (fault: string, error?: unknown) => {
      log.info({ fault, error, requestId: c.get('requestId') }, 'sign_in_failed')
      return c.redirect(signInPage(home, { error: fault, returnTo: result.returnTo || home }), 302)
    }
    if ('fault' in result) return failed(result.fault, result.error)
    try {
      const { cookie } = await sessions.begin(result.access, placeOf(c))
      c.header('Set-Cookie', cookie, { append: true })
    } catch (error) {
      return failed('too-many-topics', error)
    }
    log.info({ actor: result.access.actor, via: 'oidc', requestId: c.get('requestId') }, 'session_begun')
    return c.redirect(result.returnTo, 302)
  })
}

/** A longer one has no room in a cookie, beside what else the sealed one holds. */
const maxPathChars = 2000

/** A path of the console, such as "/console/groups?state=open"; anything else would lead people elsewhere. */
export function ownPath(asked: string | undefined, home: string): string {
  if (asked === undefined || !asked.startsWith(home)) return home
  const url = new URL(asked, 'http://own.invalid')
  const path = `${url.pathname}${url.search}${url.hash}`
  return url.host === 'own.invalid' && path.startsWith(home) && path.length <= maxPathChars ? path : home
}

function signInPage(home: string, { error, returnTo }: { error: string; returnTo: string }): string {
  return `${home}sign-in?${new URLSearchParams({ error, return: returnTo })}`
}

/** The provider compares it with those that it knows. The header Host is believed on this machine only. */
function redirectUriOf(c: Context, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/+$/, '')}/console/callback`
  const host = hostOf(c)
  if (!isLoopbackHost(host)) throw new ApiError('SYS_DLQ_CONFLICT', 'signing in at a provider needs server.public_url')
  return `http://${host}/console/callback`
}
