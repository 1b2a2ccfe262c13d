// What every command works with: the API of its context, and how its answer is shown.
import { setTimeout as sleep } from 'node:timers/promises'
import { createDlqClient, DlqApiError, type DlqClient, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { exactJson } from 'dlq-client/json/exact-json.ts'
import { type Context, chooseContext } from './config/contexts.ts'
import { tokenOf } from './config/token.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { readDuration } from './filters.ts'
import { outlasting } from './outlast.ts'
import { CurlPrinted, curlOf } from './output/curl.ts'
import { type Column, table } from './output/table.ts'
import { plainJson } from './output/words.ts'
import type { Terminal } from './terminal.ts'

/** Of every command. */
export type CommonOptions = { json?: boolean; wide?: boolean; curl?: boolean; context?: string; watch?: string | true }

export type Session = {
  terminal: Terminal
  context: Context & { name: string }
  api: DlqClient
  json: boolean
  /** Columns of the terminal; null where nothing is to be cut. */
  readonly width: number | null
  /** The time of the API, which that of messages is, in ms since 1970. */
  now(): Promise<number>
  /** JSON with --json, in the API's own shapes; else what `render` makes of it for people. */
  print<T>(data: T, render: (data: T) => string): Promise<void>
  /** To a person who sees a part of a list: that there is more, or why it ends. `next`: where the rest begins. */
  noteMore(next: string | null, words?: string): void
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], nothing?: string): string
  /** Once, or again and again with --watch, until Ctrl-C. */
  watched(pass: () => Promise<void>): Promise<void>
}

const defaultWatchMs = 2000
/** Oftener would be a load for the API that nobody can read; a timer of more than 24 days would not wait at all. */
const watchTimes = { such: '5s, from 100ms to 1d', least: 100, most: 86_400_000 }
const addressOfApi = 'give the address of the API, behind any sign-in page'
const clearScreen = '\u001b[H\u001b[J'
/** A person waits in front of it, so less patiently than a program. */
const retry = { maxAttempts: 3, maxWaitMs: 5000 }

export function openSession(
  terminal: Terminal,
  options: CommonOptions,
  context = chooseContext(terminal.env, options.context),
): Session {
  const token = tokenOf(context, terminal.env)
  const json = options.json === true
  // With --watch the window may change its size.
  const widthNow = () => (options.wide ? null : terminal.columns)
  const write = (text: string) => terminal.write(text.endsWith('\n') ? text : `${text}\n`)
  let aheadMs: number | null = null
  const session: Session = {
    terminal,
    context,
    json,
    get width() {
      return widthNow()
    },
    api: createDlqClient({
      baseUrl: context.api,
      json: { ...exactJson, parse: (text) => parseAnswer(text, context.api) },
      ...(token && { token }),
      ...retry,
      fetch: async (request) => {
        if (!options.curl) {
          const asked = new Request(request, { signal: terminal.signal, redirect: 'manual' })
          const response = await reach(asked, context.api)
          const date = response.headers.get('date')
          aheadMs = date === null ? 0 : Date.parse(date) - Date.now()
          return response
        }
        await write(await curlOf(request, context.api))
        throw new CurlPrinted()
      },
    }),
    async now() {
      // --curl shows the request that matters, which is not the one for the time.
      if (aheadMs === null && !options.curl) await askMe(session)
      return Date.now() + (aheadMs ?? 0)
    },
    async print(data, render) {
      // Also of JSON, to see whether it has what the API's has.
      const text = render(data)
      await write(json ? plainJson(exactJson.stringify(data, options.watch ? undefined : 2)) : text)
    },
    noteMore(next, words = 'there are more: --limit') {
      if (terminal.interactive && next !== null && !options.watch) terminal.note(words)
    },
    table: (rows, columns, nothing = 'nothing found') =>
      rows.length === 0 ? nothing : table(rows, columns, widthNow()),
    async watched(pass) {
      if (!options.watch) return pass()
      const everyMs = options.watch === true ? defaultWatchMs : readDuration('--watch', options.watch, watchTimes)
      const again = outlasting(pass, terminal)
      for (;;) {
        if (!json && terminal.columns !== null) await terminal.write(terminal.env.TERM === 'dumb' ? '\n' : clearScreen)
        await again()
        await sleep(everyMs, undefined, { signal: terminal.signal })
      }
    },
  }
  return session
}

/** Who asks, by their token. @throws {CliError} where something else answers JSON to everything */
export async function askMe({ api, context }: Session): Promise<components['schemas']['Me']> {
  const me = await dataOf(api.GET('/api/v1/me'))
  if (me.role === undefined)
    throw new CliError(exitCodes.unavailable, `${context.api} answers, and is no API of dlq-manager`)
  return me
}

/** The API gives each file a name. @throws {CliError} as `askMe`, where something else has answered */
export async function requireFile(session: Session, { headers }: Response): Promise<void> {
  if (!headers.has('content-disposition')) await askMe(session)
}

/**
 * fetch, with an error that says which API did not answer. A sign-in page in front of the API answers 200 with HTML, or
 * leads to it: neither may be taken for a value or an export.
 */
async function reach(request: Request, api: string): Promise<Response> {
  const response = await fetch(request).catch((cause: unknown) => {
    throw unreached(`${api} does not answer`, cause, request.signal)
  })
  const { body, headers, ok, status } = response
  const location = headers.get('location')
  // Of the API, also what is not found is JSON.
  if (status === 404 && !headers.get('content-type')?.startsWith('application/json'))
    throw new CliError(
      exitCodes.unavailable,
      `${api} answers, and has no ${new URL(request.url).pathname}: ${addressOfApi}`,
    )
  if (location !== null && status >= 300 && status < 400)
    throw new CliError(
      exitCodes.unavailable,
      `${api} sends us to ${new URL(location, request.url).href}, and is no API itself: ${addressOfApi}`,
    )
  if (ok && headers.get('content-type')?.startsWith('text/html'))
    throw new CliError(exitCodes.unavailable, `${api} answers with a web page, and is no API: ${addressOfApi}`)
  return body === null ? response : new Response(untilBroken(body, api, request.signal), response)
}

/** The same bytes. Where the connection breaks meanwhile, reading them fails with the error that a command ends with. */
function untilBroken(body: ReadableStream<Uint8Array>, api: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (cause) {
          controller.error(unreached(`the answer of ${api} broke off`, cause, signal))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function unreached(what: string, cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return cause
  const { code, message } = behind(cause)
  const remedy = remedies[code ?? '']
  return new CliError(exitCodes.unavailable, `${what}: ${remedy ?? (message || (cause as Error).message)}`, { cause })
}

/** fetch says only that it failed, and its cause why. */
const behind = (error: unknown) =>
  (error as { cause?: NodeJS.ErrnoException }).cause ?? (error as NodeJS.ErrnoException)

/** Of connections that were open. */
const brokenCodes: ReadonlySet<string | undefined> = new Set([
  ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
])

/** No answer came to a request that was sent, or that of a proxy which got none: what was asked for may be done. */
export function isAnswerLost(error: unknown): error is Error {
  if (error instanceof DlqApiError) return error.status === 502 || error.status === 504
  return error instanceof CliError && error.cause !== undefined && brokenCodes.has(behind(error.cause).code)
}

const privateAuthority = 'its certificate is of an authority that Node does not know: NODE_EXTRA_CA_CERTS names a file'
/** In the place of OpenSSL's words, by the code of the fault. */
const remedies: Partial<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks no TLS; is it http://?',
  DEPTH_ZERO_SELF_SIGNED_CERT: privateAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: privateAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: privateAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: privateAuthority,
}

function parseAnswer(text: string, api: string): unknown {
  try {
    return exactJson.parse(text)
  } catch (cause) {
    throw new CliError(exitCodes.unavailable, `${api} answers with no JSON, and is no API: ${addressOfApi}`, { cause })
  }
}
