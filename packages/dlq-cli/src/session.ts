// What every command works with: the API of its context, and how its answer is shown.
import { setTimeout as sleep } from 'node:timers/promises'
import { createDlqClient, type DlqClient } from 'dlq-client/api-client.ts'
import { exactJson } from 'dlq-client/json/exact-json.ts'
import { type Context, chooseContext } from './config/contexts.ts'
import { tokenOf } from './config/token.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { CurlPrinted, curlOf } from './output/curl.ts'
import { type Column, table } from './output/table.ts'
import { durationMs } from './output/words.ts'
import type { Terminal } from './terminal.ts'

/** Of every command. */
export type CommonOptions = { json?: boolean; wide?: boolean; curl?: boolean; context?: string; watch?: string | true }

export type Session = {
  terminal: Terminal
  context: Context & { name: string }
  api: DlqClient
  json: boolean
  /** JSON with --json, in the API's own shapes; else what `render` makes of it for people. */
  print<T>(data: T, render: (data: T) => string): Promise<void>
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], nothing?: string): string
  /** Once, or again and again with --watch, until Ctrl-C. */
  watched(pass: () => Promise<void>): Promise<void>
}

const defaultWatchMs = 2000
/** Oftener would be a load for the API that nobody can read; a timer of more than 24 days would not wait at all. */
const [leastWatchMs, mostWatchMs] = [100, 86_400_000]
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
  const width = options.wide ? null : terminal.columns
  const write = (text: string) => terminal.write(text.endsWith('\n') ? text : `${text}\n`)
  return {
    terminal,
    context,
    json,
    api: createDlqClient({
      baseUrl: context.api,
      json: exactJson,
      ...(token && { token }),
      ...retry,
      fetch: async (request) => {
        if (!options.curl) return reach(new Request(request, { signal: terminal.signal }), context.api)
        await write(await curlOf(request, context.api))
        throw new CurlPrinted()
      },
    }),
    print: (data, render) => write(json ? exactJson.stringify(data, options.watch ? undefined : 2) : render(data)),
    table: (rows, columns, nothing = 'nothing found') => (rows.length === 0 ? nothing : table(rows, columns, width)),
    async watched(pass) {
      if (!options.watch) return pass()
      const everyMs = options.watch === true ? defaultWatchMs : durationMs(options.watch)
      if (everyMs === null || everyMs < leastWatchMs || everyMs > mostWatchMs)
        throw new CliError(exitCodes.usage, `not a time such as 5s, from 100ms to 1d: ${options.watch}`)
      for (;;) {
        if (!json && terminal.columns !== null) await terminal.write(clearScreen)
        await pass()
        await sleep(everyMs, undefined, { signal: terminal.signal })
      }
    },
  }
}

/** fetch, with an error that says which API did not answer. */
async function reach(request: Request, api: string): Promise<Response> {
  try {
    return await fetch(request)
  } catch (cause) {
    if (request.signal.aborted) throw cause
    const reason = (cause as Error & { cause?: Error }).cause?.message || (cause as Error).message
    throw new CliError(exitCodes.unavailable, `${api} does not answer: ${reason}`, { cause })
  }
}
