// One process of Apache Kafka on Java: its settings in a file, its storage formatted once.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Reaper } from '../process/reaper.ts'
import { startWatchedProcess, type WatchedProcess } from '../process/watched-process.ts'
import { kafkaJars } from './kafka-jars.ts'
import { javaEnvironment, jvmFlags } from './kafka-settings.ts'

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
  const classes = await classArchive(java, jars)
  const shared = existsSync(classes) ? [`-XX:SharedArchiveFile=${classes}`] : []
  const flags = [...jvmFlags, ...shared, ...javaOptions, `-Dlog4j2.configurationFile=${log4j}`]
  // In one order: Java takes kept classes only with the class path that they came by.
  const classPath = readdirSync(jars)
    .filter((name) => name.endsWith('.jar'))
    .toSorted()
    .map((name) => join(jars, name))
  const jvm = [java, ...flags, '-cp', classPath.join(':')]
  await formatOnce(options, { jvm, properties, jars })
  const command = [...jvm, 'kafka.Kafka', properties]
  return startWatchedProcess({ command, logFile: `${dataDir}.log`, reaper, cwd: dataDir, env: javaEnvironment() })
}

/** As java.util.Properties reads it back: it takes the file for ISO-8859-1. */
function escapeProperty(value: string): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll(/[^\x20-\x7e]/g, escapeUnit)
}

/**
 * Where this Java keeps the classes of a broker, ready to use (class-data sharing): a start then takes half of the CPU.
 * Java ignores a file that does not fit. `archiveBrokerClasses` (kafka.ts) makes it.
 */
export async function classArchive(java: string, jars: string): Promise<string> {
  versions[java] ??= run(java, ['-version'], { timeout: 60_000 }).then(({ stderr }) => stderr)
  const digest = createHash('sha256')
    .update(await versions[java])
    .digest('hex')
    .slice(0, 8)
  return join(jars, `broker-${digest}.jsa`)
}

/** By the path of the program. */
const versions: Record<string, Promise<string>> = {}

/** Formats the storage of a new directory. A marker file says that it was done to the end. */
async function formatOnce(
  { dataDir, clusterId = randomClusterId(), settings, formatArguments = [] }: JavaBrokerOptions,
  { jvm, properties, jars }: { jvm: readonly string[]; properties: string; jars: string },
): Promise<void> {
  const marker = join(dataDir, 'formatted')
  if (existsSync(marker)) return
  const log = join(dataDir, 'log')
  rmSync(log, { recursive: true, force: true })
  // The tool needs two seconds. It writes ids, and the features of its version, which are the same in every directory.
  const features = join(jars, 'bootstrap.checkpoint')
  if (formatArguments.length === 0 && existsSync(features)) {
    mkdirSync(log)
    const ids = {
      version: 1,
      'cluster.id': clusterId,
      'node.id': settings['node.id'],
      'directory.id': randomClusterId(),
    }
    const lines = Object.entries(ids).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(join(log, 'meta.properties'), lines.join(''))
    copyFileSync(features, join(log, 'bootstrap.checkpoint'))
  } else {
    const [program = '', ...args] = [...jvm, 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', properties]
    await run(program, [...args, ...formatArguments], { cwd: dataDir, timeout: formatMs, env: javaEnvironment() })
    if (formatArguments.length === 0) keepFile(join(log, 'bootstrap.checkpoint'), features)
  }
  writeFileSync(marker, `${clusterId}\n`)
}

/** Under another name first, because others may look for it at any moment. */
function keepFile(file: string, kept: string): void {
  const fresh = `${kept}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  copyFileSync(file, fresh)
  renameSync(fresh, kept)
}

/** 16 bytes in URL-safe base64; like Kafka's own, never one that begins with "-", which would be read as an option. */
export function randomClusterId(): string {
  const bytes = randomBytes(16)
  bytes[0]! &= 0x7f
  return bytes.toString('base64url')
}
