// What the header Host says.

import type { Context } from 'hono'

/** With the port, if it has one. */
export function hostOf(c: Context): string {
  return c.req.header('host') ?? new URL(c.req.url).host
}

/** Names that mean this machine wherever they are looked up. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostName(host))
}

/** Without the port, in lower case. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, '')
}
