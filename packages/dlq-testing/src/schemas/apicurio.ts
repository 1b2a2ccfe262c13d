// The real Apicurio Registry 3.0.9, on Java 17, in memory: with Confluent's interface and its own. It is fetched once per
// machine from Maven Central (104 MiB). SCHEMA_REGISTRY_URL names another registry of Confluent's interface instead.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findJava } from '../kafka/java.ts'
import { javaEnvironment } from '../kafka/kafka-settings.ts'
import { freePort } from '../process/free-port.ts'
import type { Reaper } from '../process/reaper.ts'
import { startWatchedProcess, type WatchedProcess } from '../process/watched-process.ts'

const run = promisify(execFile)

const version = '3.0.9'
const artifact = `io.apicurio:apicurio-registry-app:${version}:tar.gz:all`
const downloadMs = 15 * 60_000
/** 7 s on an idle machine. */
const startMs = 180_000
/** It takes 200 MB. */
const jvmFlags = ['-Xmx192m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']

export type Apicurio = {
  /** Confluent's interface. */
  readonly confluentUrl: string
  /** Its own, version 3. */
  readonly nativeUrl: string
  readonly process: WatchedProcess
  /** Registers a schema and returns its id. */
  register(subject: string, body: { schema: string; schemaType?: string; references?: object[] }): Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

/** Null where this machine has no Java, or cannot fetch the registry; `say` is told why. */
export async function startApicurio({
  reaper,
  logFile,
  say,
}: {
  reaper: Reaper
  logFile: string
  say: (line: string) => void
}): Promise<Apicurio | null> {
  const java = await findJava()
  if (!java) {
    say('no schema registry: this machine has no Java 17')
    return null
  }
  const folder = await apicurioFolder(say)
  const port = await freePort()
  const process = await startWatchedProcess({
    command: [
      ...[
        java,
        ...jvmFlags,
        '-Dquarkus.log.level=WARN',
        '-Dquarkus.http.host=127.0.0.1',
        `-Dquarkus.http.port=${port}`,
      ],
      ...['-Dapicurio.rest.deletion.artifact-version.enabled=true', '-Dapicurio.rest.deletion.artifact.enabled=true'],
      ...['-jar', join(folder, `apicurio-registry-app-${version}-runner.jar`)],
    ],
    ...{ logFile, reaper, env: javaEnvironment() },
  })
  const confluentUrl = `http://127.0.0.1:${port}/apis/ccompat/v7`
  await untilReady(process, `${confluentUrl}/schemas/types`)
  return {
    confluentUrl,
    nativeUrl: `http://127.0.0.1:${port}/apis/registry/v3`,
    process,
    async register(subject, body) {
      const answer = await fetch(`${confluentUrl}/subjects/${encodeURIComponent(subject)}/versions`, {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        body: JSON.stringify(body),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`the registry answered ${answer.status}: ${text}`)
      return (JSON.parse(text) as { id: number }).id
    },
    [Symbol.asyncDispose]: () => process.stop('SIGTERM', 10_000),
  }
}

async function untilReady(process: WatchedProcess, url: string): Promise<void> {
  const deadline = Date.now() + startMs
  while (Date.now() < deadline) {
    if (process.hasExited()) break
    const answer = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => null)
    if (answer?.ok) return
    await sleep(100)
  }
  throw new Error(`Apicurio did not become ready:\n${process.lastOutput()}`)
}

/** The folder of the unpacked registry. Made under another name and renamed, so two processes may do it at once. */
async function apicurioFolder(say: (line: string) => void): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'dlq-manager', `apicurio-${version}`)
  if (existsSync(folder)) return folder
  say(`fetching Apicurio Registry ${version} with Maven (104 MiB, once per machine)`)
  const fresh = `${folder}.new-${process.pid}`
  mkdirSync(fresh, { recursive: true })
  try {
    const copy = ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${fresh}`]
    const limits = { timeout: downloadMs, maxBuffer: 64 * 1024 * 1024 }
    await run('mvn', copy, { ...limits, cwd: dirname(folder), env: javaEnvironment() })
    const archive = join(fresh, `apicurio-registry-app-${version}-all.tar.gz`)
    await run('tar', ['xzf', archive, '-C', fresh], { timeout: downloadMs })
    rmSync(archive)
    if (!existsSync(folder)) renameSync(fresh, folder)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return folder
}
