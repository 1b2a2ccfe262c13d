// The names and attributes of the console's cookies. `__Host-` makes a browser refuse the cookie over plain HTTP and
// from any other host. Browsers take no such cookie over HTTP, so on this machine alone there is another name.

import { isLoopbackHost } from '../access/hosts.ts'

export type CookiePlace = { publicUrl: string | undefined; host: string }

/** Browsers keep at least this of a cookie, with its name (RFC 6265, 6.1). */
export const maxCookieBytes = 4096

/** The value of a cookie of the request; undefined where it has none. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

export function sessionCookieName(place: CookiePlace): string {
  return nameOf('dlq-session', place)
}

export function loginCookieName(place: CookiePlace): string {
  return nameOf('dlq-login', place)
}

/** A Set-Cookie header. An empty value with zero seconds takes the cookie away. */
export function setCookie(
  name: string,
  value: string,
  { maxAgeSeconds, sameSite }: { maxAgeSeconds: number; sameSite: 'Strict' | 'Lax' },
): string {
  const secure = name.startsWith('__Host-') ? '; Secure' : ''
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly${secure}; SameSite=${sameSite}`
}

function nameOf(name: string, { publicUrl, host }: CookiePlace): string {
  const isPlain = publicUrl === undefined ? isLoopbackHost(host) : publicUrl.startsWith('http:')
  return isPlain ? name : `__Host-${name}`
}
