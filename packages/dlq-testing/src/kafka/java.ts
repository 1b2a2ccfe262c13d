// The Java of this machine, and programs for it: a source file beside Kafka's jars, compiled when it is run
// by the compiler among them, because a runtime alone has none.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { kafkaJars, kafkaJarsFolder } from './kafka-jars.ts'
import { javaEnvironment, jvmFlags } from './kafka-settings.ts'

const run = promisify(execFile)

const runMs = 5 * 60_000
const maxOutputBytes = 256 * 1024 * 1024
const limits = () => ({ timeout: runMs, env: javaEnvironment() })

/** The java to use: 17 or later, and with it either Maven or jars fetched before. */
export async function findJava(): Promise<string | undefined> {
  const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, 'bin', 'java') : 'java'
  try {
    const { stderr } = await run(java, ['-version'], { timeout: 60_000 })
    const major = Number(/version "(\d+)/.exec(stderr)?.[1])
    if (!(major >= 17)) return undefined
    if (!existsSync(kafkaJarsFolder())) await run('mvn', ['-v'], { timeout: 60_000, env: javaEnvironment() })
    return java
  } catch {
    return undefined // Not installed.
  }
}

/**
 * Sets a quota of clients with this id, in the words of kafka-configs.sh, such as `producer_byte_rate=20000`. Resolves to
 * whether that was possible: without Java it is not.
 */
export async function setClientQuota(
  brokers: readonly string[],
  { clientId, quota }: { clientId: string; quota: string },
): Promise<boolean> {
  const java = await findJava()
  if (!java) return false
  const classes = join(await kafkaJars(() => {}), '*')
  const entity = ['--entity-type', 'clients', '--entity-name', clientId]
  const change = ['--bootstrap-server', brokers.join(','), '--alter', '--add-config', quota, ...entity]
  await run(java, [...jvmFlags, '-cp', classes, 'kafka.admin.ConfigCommand', ...change], limits())
  return true
}

/** A compiled program. `run` resolves to what it printed, and throws with its words where it fails. */
export type JavaProgram = {
  run(args: readonly string[]): Promise<string>
  /** Starts it, for a program that goes on; its creator ends it by closing its standard input. */
  start(args: readonly string[]): ChildProcess
  [Symbol.asyncDispose](): Promise<void>
}

/** Compiles a source file, and those that it uses, against Kafka's client. Null where this machine has no Java. */
export async function compileJava(source: string, ...more: readonly string[]): Promise<JavaProgram | null> {
  const java = await findJava()
  if (!java) return null
  const jars = await kafkaJars(() => {})
  const classes = mkdtempSync(join(tmpdir(), 'dlq-java-'))
  const compiler = readdirSync(jars).find((name) => name.startsWith('ecj-'))!
  const main = ['-cp', join(jars, compiler), 'org.eclipse.jdt.internal.compiler.batch.Main']
  const clients = readdirSync(jars).filter((name) => name.startsWith('kafka-clients-'))
  const options = ['--release', '17', '-nowarn', '-proc:none', '-cp', join(jars, clients[0]!), '-d', classes]
  await run(java, [...jvmFlags, ...main, ...options, source, ...more], limits())
  const commandOf = (args: readonly string[]) => [
    ...[...jvmFlags, '-cp', [classes, join(jars, '*')].join(':'), basename(source, '.java')],
    ...args,
  ]
  return {
    start: (args) => spawn(java, commandOf(args), { stdio: ['pipe', 'pipe', 'inherit'], env: javaEnvironment() }),
    async run(args) {
      const command = commandOf(args)
      const { stdout } = await run(java, command, { ...limits(), maxBuffer: maxOutputBytes })
      return stdout
    },
    async [Symbol.asyncDispose]() {
      rmSync(classes, { recursive: true, force: true })
    },
  }
}
