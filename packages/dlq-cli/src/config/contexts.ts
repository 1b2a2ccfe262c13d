// The deployments that this person works with: a name, the API's address, and where its token comes from.
// The file holds no token. It is refused if others may change it, because it may name a command.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { CliError, exitCodes } from '../exit-codes.ts'

const contextSchema = v.strictObject({
  api: v.pipe(v.string(), v.url(), v.regex(/^https?:/)),
  token_file: v.optional(v.string()),
  /** Run by the shell; its output is the token. */
  token_command: v.optional(v.string()),
  /** Changes of many messages want their number typed. */
  production: v.optional(v.boolean()),
})
const fileSchema = v.strictObject({
  current: v.nullable(v.string()),
  contexts: v.record(v.string(), contextSchema),
})

export type Context = v.InferOutput<typeof contextSchema>
export type ContextFile = v.InferOutput<typeof fileSchema>

export function contextPath(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'dlq', 'config.json')
}

export function readContexts(env: NodeJS.ProcessEnv): ContextFile {
  const path = contextPath(env)
  if (!existsSync(path)) return { current: null, contexts: {} }
  const { mode } = statSync(path)
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new CliError(exitCodes.configuration, `others may read ${path}: chmod 600 it`)
  const parsed = v.safeParse(fileSchema, readJson(path))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const fault = issue.expected === 'never' ? 'unknown key' : issue.message
  throw new CliError(exitCodes.configuration, `${path}: ${v.getDotPath(issue) ?? 'the file'}: ${fault}; ${remedy}`)
}

const remedy = 'repair it, or delete the file and log in again'

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new CliError(exitCodes.configuration, `${path}: ${(cause as Error).message}; ${remedy}`, { cause })
  }
}

function contextNamed({ contexts }: ContextFile, name: string): Context {
  if (Object.hasOwn(contexts, name)) return contexts[name]!
  throw new CliError(exitCodes.configuration, `no context ${name}; \`dlq context\` lists them`)
}

/** Replaces the file whole, so a reader never finds half of it. @throws {CliError} where the current context is none of them */
export function writeContexts(env: NodeJS.ProcessEnv, contexts: ContextFile): void {
  const path = contextPath(env)
  const file = v.parse(fileSchema, contexts)
  // The schema leaves out names that every object has, such as "constructor".
  if (file.current !== null) contextNamed(file, file.current)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  chmodSync(fresh, 0o600)
  renameSync(fresh, path)
}

/** The context in force: the one named, else DLQ_API, else the current one. */
export function chooseContext(env: NodeJS.ProcessEnv, name: string | undefined): Context & { name: string } {
  if (name === undefined && env.DLQ_API) return { name: 'DLQ_API', api: checkedApi(env.DLQ_API) }
  const saved = readContexts(env)
  const chosen = name ?? saved.current
  if (chosen === null)
    throw new CliError(exitCodes.configuration, 'which API? Run `dlq login https://…`, or set DLQ_API and DLQ_TOKEN')
  const context = contextNamed(saved, chosen)
  return { name: chosen, ...context, api: checkedApi(context.api) }
}

/** A prefix may end with "console", so only the console's own sections may follow. */
const consolePage =
  /\/console(\/+|\/(groups|messages|runs|topics|policies|audit|events|system|settings|sign-in)(\/.*)?)?$/

/**
 * The address as requests have it, without a default port or a query. That of a page of the console, which people have
 * in front of them, stands for that of its API.
 */
export function checkedApi(api: string): string {
  const parsed = v.safeParse(contextSchema.entries.api, api)
  if (!parsed.success)
    throw new CliError(exitCodes.configuration, `not the address of an API, such as https://dlq.example.com: ${api}`)
  const { origin, pathname, username, password } = new URL(parsed.output)
  if (username !== '' || password !== '')
    throw new CliError(
      exitCodes.configuration,
      'an address may hold no user and no password: give a token, by --token-file, --token-command or DLQ_TOKEN',
    )
  return `${origin}${pathname}`.replace(consolePage, '').replace(/\/+$/, '')
}
