// Serves the console below /console/. Every path that is no file answers index.html to who asks for a page, because the
// console's own addresses are below /console/ too; to others it answers 404.

import type { Context, Handler, Hono } from 'hono'
import { ApiError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'
import type { ConsoleFile, ConsoleFiles } from './console-files.ts'

export type ServedConsole = {
  files: ConsoleFiles
  /** The path under which browsers see the API: "" or "/dlq". */
  prefix: string
  /** Origins of pages that may show the console in a frame. */
  frameAncestors: readonly string[]
}

const forever = 'public, max-age=31536000, immutable'

export function serveConsole(app: Hono<ApiEnv>, { files, prefix, frameAncestors }: ServedConsole): void {
  const policy = contentPolicy(frameAncestors)
  const toConsole: Handler<ApiEnv> = (c) => c.redirect(`${prefix}/console/`, 302)
  app.get('/', toConsole)
  app.get('/console', toConsole)
  app.get('/console/*', (c) => {
    const path = new URL(c.req.url).pathname.slice('/console/'.length)
    const file = files.files.get(path) ?? (isPage(c, path) ? files.index : undefined)
    if (!file) throw new ApiError('SYS_DLQ_NOT_FOUND', `the console has no file ${c.req.path}`)
    c.header('Content-Security-Policy', policy)
    c.header('Cross-Origin-Opener-Policy', 'same-origin')
    return answer(c, file)
  })
}

/** A file that was there in another build is missing, and index.html does not stand for it. */
function isPage(c: Context, path: string): boolean {
  if (path === '' || path === 'index.html') return true
  return !path.startsWith('assets/') && /\btext\/html\b/.test(c.req.header('accept') ?? '')
}

function answer(c: Context, file: ConsoleFile): Response {
  const { bytes, coding } = inCoding(file, c.req.header('accept-encoding') ?? '')
  const etag = `"${file.hash}${coding === null ? '' : `-${coding}`}"`
  c.header('Cache-Control', file.isHashed ? forever : 'no-cache')
  c.header('ETag', etag)
  c.header('Vary', 'Accept-Encoding')
  const known = (c.req.header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known.includes(etag)) return c.body(null, 304)
  if (coding !== null) c.header('Content-Encoding', coding)
  return c.body(new Uint8Array(bytes), 200, { 'content-type': file.type, 'content-length': String(bytes.length) })
}

/** The smallest form that the client takes. */
function inCoding(file: ConsoleFile, accepted: string): { bytes: Buffer; coding: 'br' | 'gzip' | null } {
  const takes = new Set(
    accepted
      .split(',')
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.replace(/;.*$/, '').trim()),
  )
  if (file.brotli !== null && takes.has('br')) return { bytes: file.brotli, coding: 'br' }
  if (file.gzip !== null && takes.has('gzip')) return { bytes: file.gzip, coding: 'gzip' }
  return { bytes: file.bytes, coding: null }
}

/** Everything from the API's own origin, nothing inline. The console runs under the same policy in development. */
function contentPolicy(frameAncestors: readonly string[]): string {
  const own = ['script', 'style', 'font', 'img', 'connect', 'worker', 'manifest'].map((kind) => `${kind}-src 'self'`)
  return [
    "default-src 'none'",
    ...own,
    "form-action 'self'",
    "base-uri 'self'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(' ')}`,
    "require-trusted-types-for 'script'",
    'trusted-types dlq-worker',
  ].join('; ')
}
