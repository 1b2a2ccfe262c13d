// One process of Apache Kafka on Java: its settings in a file, its storage formatted once.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Reaper } from '../process/reaper.ts'
import { startWatchedProcess, type WatchedProcess } from '../process/watched-process.ts'
import { kafkaJars } from './kafka-jars.ts'
import { jvmFlags } from './kafka-settings.ts'

const run = promisify(execFile)

export type JavaBrokerOptions = {
  java: string
  dataDir: string
  /** The lines of server.properties, apart from log.dirs; a value may have several lines itself, as PEM has. */
  settings: Readonly<Record<string, string>>
  reaper: Reaper
  log: (line: string) => void
  /** For a new directory: one of its own unless given. The brokers of a cluster share one. */
  clusterId?: string
  /** Further options of Java itself. */
  javaOptions?: readonly string[]
  /** For the tool that formats a new directory, such as `--add-scram`. */
  formatArguments?: readonly string[]
}

const log4j = fileURLToPath(new URL('../../kafka/log4j2.properties', import.meta.url))
const formatMs = 180_000

/** Starts the broker, and does not wait until it answers. Its output is appended to `dataDir`.log. */
export async function startJavaBroker(options: JavaBrokerOptions): Promise<WatchedProcess> {
  const { java, dataDir, settings, reaper, log, javaOptions = [] } = options
  const jars = await kafkaJars(log)
  mkdirSync(dataDir, { recursive: true })
  const properties = join(dataDir, 'server.properties')
  const lines = Object.entries({ 'log.dirs': join(dataDir, 'log'), ...settings })
  writeFileSync(properties, lines.map(([name, value]) => `${name}=${escapeProperty(value)}\n`).join(''), {
    mode: 0o600,
  })
  const jvm = [java, ...jvmFlags, ...javaOptions, `-Dlog4j2.configurationFile=${log4j}`, '-cp', join(jars, '*')]
  await formatOnce(options, { jvm, properties })
  const command = [...jvm, 'kafka.Kafka', properties]
  return startWatchedProcess({ command, logFile: `${dataDir}.log`, reaper, cwd: dataDir })
}

/** As java.util.Properties reads it back. */
function escapeProperty(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

/** Formats the storage of a new directory. A marker file says that it was done to the end. */
async function formatOnce(
  { dataDir, clusterId = randomClusterId(), formatArguments = [] }: JavaBrokerOptions,
  { jvm, properties }: { jvm: readonly string[]; properties: string },
): Promise<void> {
  const marker = join(dataDir, 'formatted')
  if (existsSync(marker)) return
  rmSync(join(dataDir, 'log'), { recursive: true, force: true })
  const [program = '', ...args] = [...jvm, 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', properties]
  await run(program, [...args, ...formatArguments], { cwd: dataDir, timeout: formatMs })
  writeFileSync(marker, `${clusterId}\n`)
}

/** 16 bytes in URL-safe base64; like Kafka's own, never one that begins with "-", which would be read as an option. */
export function randomClusterId(): string {
  const bytes = randomBytes(16)
  bytes[0]! &= 0x7f
  return bytes.toString('base64url')
}
