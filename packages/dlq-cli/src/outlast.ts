// An API that is away for a moment, as one that restarts, ends nothing that a person watches.
import { setTimeout as sleep } from 'node:timers/promises'
import { DlqApiError } from 'dlq-client/api-client.ts'
import { CliError, exitCodes, isAwayStatus } from './exit-codes.ts'
import { plainLines } from './output/words.ts'
import type { Terminal } from './terminal.ts'

/** An API that restarts answers again within this. */
const awayMs = 30_000
const pollMs = 500

/** `read`, which may be called again. Once it has succeeded, an API that is away has 30 s to be back. */
export function outlasting<T>(read: () => Promise<T>, { interactive, note, signal }: Terminal): () => Promise<T> {
  let hasRead = false
  return async () => {
    let awaySince: number | null = null
    for (;;) {
      try {
        const result = await read()
        hasRead = true
        return result
      } catch (error) {
        if (!hasRead || !isAway(error)) throw error
        if (awaySince === null && interactive) note(`${plainLines(error.message)}; asking again`)
        awaySince ??= Date.now()
        if (Date.now() - awaySince > awayMs) throw error
        await sleep(pollMs, undefined, { signal })
      }
    }
  }
}

function isAway(error: unknown): error is Error {
  if (error instanceof CliError) return error.exitCode === exitCodes.unavailable
  return error instanceof DlqApiError && isAwayStatus(error.status)
}
