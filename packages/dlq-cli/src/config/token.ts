// A token comes from a file, a command or DLQ_TOKEN; never from an argument, which every process may read.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { CliError, exitCodes } from '../exit-codes.ts'
import type { Context } from './contexts.ts'

const commandMs = 60_000

/** Asked before each request: a file's token may be replaced while `--watch` runs. Null where none is set. */
export function tokenOf(context: Context & { name: string }, env: NodeJS.ProcessEnv): (() => string) | null {
  const { token_file: file, token_command: command } = context
  if (file !== undefined) return () => checked(readToken(file), file)
  if (command !== undefined) {
    let token: string | undefined
    return () => {
      token ??= checked(runCommand(command), command)
      return token
    }
  }
  const token = context.name === 'DLQ_API' ? env.DLQ_TOKEN : undefined
  return token ? () => checked(token, 'DLQ_TOKEN') : null
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new CliError(exitCodes.configuration, `the token's file cannot be read: ${(cause as Error).message}`, {
      cause,
    })
  }
}

function runCommand(command: string): string {
  try {
    return execFileSync('sh', ['-c', command], {
      encoding: 'utf8',
      timeout: commandMs,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  } catch (cause) {
    throw new CliError(exitCodes.configuration, `the token's command failed: ${command}`, { cause })
  }
}

function checked(text: string, source: string): string {
  const token = text.trim()
  if (!/^[\x21-\x7e]+$/.test(token)) throw new CliError(exitCodes.configuration, `${source} gives no token of one line`)
  return token
}
