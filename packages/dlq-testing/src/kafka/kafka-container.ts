// The second way to a broker, for machines without Java: the official image in the
// foreground, so its lifetime is that of a child of ours. The data is in a named volume,
// because files written through a bind mount would belong to the image's own user.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Reaper } from '../process/reaper.ts'
import { startWatchedProcess, type WatchedProcess } from '../process/watched-process.ts'
import { jvmFlags, kafkaSettings, kafkaVersion } from './kafka-settings.ts'

const run = promisify(execFile)

const image = `docker.io/apache/kafka:${kafkaVersion}`
const volumePath = '/var/lib/kafka/data'
const pullMs = 15 * 60_000

/** The container engine that answers `info`, if any. */
export async function containerEngine(): Promise<string | undefined> {
  for (const engine of ['docker', 'podman']) {
    try {
      await run(engine, ['info'], { timeout: 20_000 })
      return engine
    } catch {
      // Not installed, or its daemon does not run.
    }
  }
  return undefined
}

/** One container name (and volume name) per data directory. */
function nameFor(dataDir: string): string {
  return `dlq-kafka-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
}

/** Runs the image in the foreground under the reaper. A directory without our marker starts with a new volume. */
export async function startKafkaContainer({
  engine,
  dataDir,
  port,
  reaper,
  log,
}: {
  engine: string
  dataDir: string
  port: number
  reaper: Reaper
  log: (line: string) => void
}): Promise<WatchedProcess> {
  const marker = join(dataDir, 'volume')
  await removeContainer({ engine, dataDir, discard: !existsSync(marker) })
  writeFileSync(marker, `${nameFor(dataDir)}\n`)
  log(`fetching ${image} with ${engine} where it is not yet there`)
  await run(engine, ['image', 'inspect', image]).catch(() => run(engine, ['pull', '-q', image], { timeout: pullMs }))
  const settings = {
    ...kafkaSettings({ port, controllerPort: port === 9093 ? 9094 : 9093, bindAddress: '0.0.0.0' }),
    'log.dirs': volumePath,
  }
  const environment = [
    ...Object.entries(settings).map(([name, value]) => `${variableFor(name)}=${value}`),
    `KAFKA_HEAP_OPTS=${jvmFlags[0]}`,
    `KAFKA_JVM_PERFORMANCE_OPTS=${jvmFlags.slice(1).join(' ')}`,
    // The image formats an empty volume with this id, and keeps to it afterwards.
    'CLUSTER_ID=ZGxxLW1hbmFnZXItdGVzdA',
  ]
  const publish = ['-p', `127.0.0.1:${port}:${port}`, '-v', `${nameFor(dataDir)}:${volumePath}`]
  return startWatchedProcess({
    command: [
      ...[engine, 'run', '--rm', '--init', '--name', nameFor(dataDir)],
      ...publish,
      ...environment.flatMap((variable) => ['-e', variable]),
      image,
    ],
    logFile: `${dataDir}.log`,
    reaper,
  })
}

/** Ends a container that is left over, as after a SIGKILL of its client; `discard` drops its data too. */
export async function removeContainer({
  engine,
  dataDir,
  discard,
}: {
  engine: string
  dataDir: string
  discard: boolean
}): Promise<void> {
  // Usually neither exists, which the engine calls a failure.
  await run(engine, ['rm', '-f', nameFor(dataDir)]).catch(() => {})
  if (discard) await run(engine, ['volume', 'rm', '-f', nameFor(dataDir)]).catch(() => {})
}

/** `log.dirs` → `KAFKA_LOG_DIRS`, as the image's configuration reads its environment. */
function variableFor(setting: string): string {
  return `KAFKA_${setting.replaceAll('.', '_').toUpperCase()}`
}
