// Where a command runs: its environment, its streams, and the person in front of it, if there is one.
import { createInterface } from 'node:readline'
import { CliError, exitCodes } from './exit-codes.ts'

export type Terminal = {
  env: NodeJS.ProcessEnv
  /** Resolves when the bytes are written, so a long export waits for a slow reader. */
  write(chunk: string | Uint8Array): Promise<void>
  /** For people; programs read what `write` writes. */
  note(line: string): void
  /** As they are now. Null: not a terminal, so nothing is cut or coloured. */
  readonly columns: number | null
  /** Whether somebody can answer a question. */
  interactive: boolean
  confirm(question: string): Promise<boolean>
  ask(question: string): Promise<string>
  /** Aborted by Ctrl-C, or by SIGTERM: then that is its reason. */
  signal: AbortSignal
}

const defaultColumns = 80

/** The terminal of this process. */
export function processTerminal(signal: AbortSignal): Terminal {
  const { stdin, stdout, stderr, env } = process
  // `dlq ls | head` closes the pipe early; that is no fault. Any other error ends the command where it writes.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done)
  })
  // What is noted may have no reader (`2>&1 | head`). The work goes on, and its exit code says how it ended.
  stderr.on('error', () => undefined)
  return {
    env,
    write: (chunk) =>
      new Promise((resolve, reject) => stdout.write(chunk, (error) => (error ? reject(unwritten(error)) : resolve()))),
    note: (line) => void stderr.write(`${line}\n`),
    get columns() {
      // Some terminals, as those of containers, do not know their size.
      return stdout.isTTY ? stdout.columns || defaultColumns : null
    },
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    confirm: async (question) => /^y(es)?$/i.test(await answerTo(`${question} [y/N] `, signal)),
    ask: (question) => answerTo(`${question} `, signal),
    signal,
  }
}

/** A line of text alone, so any terminal can show it, and any screen reader can say it. Ctrl-C and Ctrl-D cancel the command. */
async function answerTo(question: string, signal: AbortSignal): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(question)
  // Not Node's own editor of lines, which moves the cursor.
  const lines = createInterface({ input: stdin, terminal: false, signal })
  try {
    for await (const line of lines) return line.trim()
  } finally {
    lines.close()
  }
  stderr.write('\n')
  throw new CliError(exitCodes.interrupted, 'nothing was changed')
}

function unwritten(cause: Error): CliError {
  return new CliError(exitCodes.failed, `the output cannot be written: ${cause.message}`, { cause })
}
