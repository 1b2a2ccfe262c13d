// The folder where the processes of a test file write. It is deleted at the end of the file. If a test failed, it
// stays and its name is printed.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** Call once at the top of a test file, before the processes start that write there. */
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
    if (failed) console.error(`the processes of the failed tests have left their logs in ${keep(path)}`)
    else rmSync(path, { recursive: true, force: true })
  })
  return {
    get path() {
      return path
    },
  }
}

/** Where it stays after the run, whose own folder of temporary files is deleted. */
function keep(path: string): string {
  const { DLQ_TEST_LOGS: place } = process.env
  if (place === undefined) return path
  const kept = join(place, basename(path))
  cpSync(path, kept, { recursive: true })
  rmSync(path, { recursive: true, force: true })
  return kept
}
