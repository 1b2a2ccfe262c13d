// The jars of Apache Kafka, copied once per machine from Maven's repository into a cache
// outside the clone. Made under another name and renamed, so two processes may do it at once.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { javaEnvironment, kafkaVersion } from './kafka-settings.ts'

const run = promisify(execFile)

const pom = fileURLToPath(new URL('../../kafka/pom.xml', import.meta.url))
const downloadMs = 15 * 60_000
const maxTries = 3

/** The folder the jars are cached in, whether it exists or not: another one when the list of jars has changed. */
export function kafkaJarsFolder(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const digest = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 8)
  return join(cache, 'dlq-manager', `kafka-${kafkaVersion}-${digest}`)
}

let fetching: Promise<string> | null = null

/** Makes sure the jars are there and returns their folder. Throws with Maven's words when it fails thrice. */
export async function kafkaJars(log: (line: string) => void): Promise<string> {
  const folder = kafkaJarsFolder()
  if (existsSync(folder)) return folder
  // The brokers of a cluster ask at once.
  fetching ??= fetchJars(folder, log).finally(() => {
    fetching = null
  })
  return fetching
}

async function fetchJars(folder: string, log: (line: string) => void): Promise<string> {
  log(`downloading Apache Kafka ${kafkaVersion} with Maven (47 MB, once per machine)`)
  const started = Date.now()
  const fresh = `${folder}.new-${process.pid}`
  mkdirSync(dirname(folder), { recursive: true })
  try {
    await copyWithMaven(fresh, log)
    moveInto(fresh, folder)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  log(`downloaded Apache Kafka in ${Math.round((Date.now() - started) / 1000)} s`)
  return folder
}

async function copyWithMaven(folder: string, log: (line: string) => void): Promise<void> {
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, `-Dkafka.version=${kafkaVersion}`]
  const args = ['-q', '-B', '-f', pom, ...goal]
  for (let tries = 1; ; tries++) {
    try {
      const limits = { timeout: downloadMs, maxBuffer: 64 * 1024 * 1024 }
      await run('mvn', [...args, '-DincludeScope=runtime'], { ...limits, env: javaEnvironment() })
      return
    } catch (cause) {
      const { stdout = '', message = '' } = cause as { stdout?: string; message?: string }
      const words = (stdout || message).trim().slice(-1_500)
      if (tries === maxTries)
        throw new Error(`Maven could not fetch Apache Kafka ${kafkaVersion}:\n${words}`, { cause })
      log(`Maven failed, trying again: ${words.split('\n')[0]}`)
    }
  }
}

function moveInto(fresh: string, folder: string): void {
  try {
    renameSync(fresh, folder)
  } catch (cause) {
    // Another process was quicker; its copy is as good as ours.
    if (!existsSync(folder)) throw cause
  }
}
