// Whether the API serves the console, and how.

import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { type ConsoleConfig, consoleConfigOf } from './console-config.ts'
import { consoleBuildFolder, readConsoleFiles } from './console-files.ts'
import type { ServedConsole } from './serve-console.ts'

/** A build that is missing turns the console off, with a line in the log: the API works without it. */
export function prepareConsole(
  config: Config,
  log: Log,
  folder = consoleBuildFolder,
): { console: ServedConsole | undefined; consoleConfig: ConsoleConfig | null } {
  const off = { console: undefined, consoleConfig: null }
  if (!config.server.console) return off
  const prefix = pathOf(config.server.public_url)
  const files = readConsoleFiles(folder, { prefix })
  if (files === null) {
    log.warn({ folder }, 'console_not_built')
    return off
  }
  return {
    console: { files, prefix, frameAncestors: config.console.frame_ancestors ?? [] },
    consoleConfig: consoleConfigOf(config, { build: files.build }),
  }
}

/** "" or "/dlq" */
function pathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
}
