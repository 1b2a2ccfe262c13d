// Where the processes of a test file write: a folder that goes with the file, unless a test failed. Then
// it stays, and its name is printed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** Call once at the top of a test file, before what writes there is started. */
export function useLogFolder(): { readonly path: string } {
  let path = ''
  let failed = false

  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), 'dlq-logs-'))
  })
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      failed = true
    })
  })
  afterAll(() => {
    if (failed) console.error(`the logs of what the failed tests ran are in ${path}`)
    else rmSync(path, { recursive: true, force: true })
  })
  return {
    get path() {
      return path
    },
  }
}
