// The one way to the API: the typed client, with each request noted for "show the request", and the answers' times kept.

import { createDlqClient, type DlqClient } from 'dlq-client/api-client.ts'
import { readServerDate, serverNow } from './server-clock.ts'
import { createStore } from './store.ts'

/** Where the API is: beside the console, below the same prefix, without a slash at the end. */
export const apiBase = new URL('..', document.baseURI).href.replace(/\/$/, '')

export type LoggedRequest = {
  readonly id: number
  readonly method: string
  /** From `/api/…`, with the query. */
  readonly path: string
  readonly body: string | null
  readonly at: number
  /** Null while it is under way; 0 if no answer came. */
  readonly status: number | null
  readonly ms: number | null
}

const maxLogged = 100

export const requestLog = createStore<readonly LoggedRequest[]>([])
/** When the API last told what is in the database, by the server's clock. */
export const lastAnswerAt = createStore<number | null>(null)
/** Somebody has to sign in before anything else can be asked. */
export const signInNeeded = createStore(false)

let nextId = 1

async function loggedFetch(request: Request): Promise<Response> {
  const id = nextId++
  const entry: LoggedRequest = {
    id,
    method: request.method,
    path: request.url.slice(apiBase.length),
    body: request.method === 'GET' ? null : await request.clone().text(),
    at: Date.now(),
    status: null,
    ms: null,
  }
  requestLog.set([entry, ...requestLog.get()].slice(0, maxLogged))
  const wasNeeded = signInNeeded.get()
  const settle = (status: number) =>
    requestLog.set(requestLog.get().map((one) => (one.id === id ? { ...one, status, ms: Date.now() - entry.at } : one)))
  try {
    const response = await fetch(request)
    settle(response.status)
    readServerDate(response.headers.get('date'))
    if (response.ok && tellsOfData(entry.path)) lastAnswerAt.set(serverNow())
    if (response.status === 401) signInNeeded.set(true)
    // Asked since then, and answered: somebody has signed in, in another tab of this browser.
    else if (wasNeeded && response.ok && tellsOfData(entry.path)) signInNeeded.set(false)
    return response
  } catch (error) {
    settle(0)
    throw error
  }
}

/** The API knows its own files and who asks also while the database is away. */
function tellsOfData(path: string): boolean {
  return path.startsWith('/api/v1/') && !/^\/api\/v1\/(me|session)\b/.test(path)
}

/** One attempt: polling is the repetition, and the page says that it tries again. */
export const api: DlqClient = createDlqClient({ baseUrl: apiBase, fetch: loggedFetch, maxAttempts: 1 })

/** For paths that the generated types do not have: the console's own, and downloads. */
export function rawRequest(path: string, init?: RequestInit): Promise<Response> {
  return loggedFetch(new Request(`${apiBase}${path}`, init))
}
