// `npm start` runs this. It starts PostgreSQL, Kafka, the migrations, the three services as processes, and the demo.
// When it ends, it stops them in order; when it is killed, the reaper stops them.

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sameSignalMs } from 'dlq-core/runtime/run-service.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { startFleet } from './fleet.ts'
import { isAlive, takeRunnerLock } from './runner-lock.ts'
import { readStackFile, removeStackFile } from './stack-file.ts'
import { placeLines } from './summary.ts'
import { createTerminal } from './terminal.ts'
import { watchFleet } from './watch-fleet.ts'

const usage = `usage: npm start [-- --no-demo] [-- --demo] [-- --open] [-- --reset] [-- --data-dir DIR]
  --no-demo       only the fleet: PostgreSQL, Kafka and the three services
  --demo          the demo's topics and traffic also where KAFKA_BROKERS names a Kafka
  --open          open the console in a browser
  --reset         forget the data of earlier runs first
  --data-dir DIR  keep data, logs and stack.json there instead of in .dev
DATABASE_URL and KAFKA_BROKERS name servers to use instead of starting some. On a Kafka that is named, messages are sent
only when somebody asks, unless DLQ_RETRY_AUTO_RETRY=true.`

const defaultDir = fileURLToPath(new URL('../../../.dev', import.meta.url))

process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (options === null) return 64
  const devDir = options.dataDir
  const stackPath = `${devDir}/stack.json`
  const lock = takeRunnerLock(`${devDir}/runner.pid`)
  if ('heldBy' in lock) return reportRunning(lock.heldBy, stackPath, options.reset)

  const terminal = createTerminal(process.stdout)
  const stopping = stopOnSignals(() => terminal.print('Stopping …'))
  const stack = new AsyncDisposableStack()
  stack.defer(() => lock.release())
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  stack.defer(() => removeStackFile(stackPath))
  try {
    await waitForFormerRun(stackPath)
    if (options.reset)
      for (const name of ['postgres', 'kafka', 'logs']) rmSync(`${devDir}/${name}`, { recursive: true, force: true })
    const fleet = await startFleet({
      devDir,
      stackPath,
      reaper,
      stack,
      demo: options.demo,
      print: terminal.print,
      signal: stopping.signal,
    })
    if (fleet && options.open) openInBrowser(fleet.describe().console, terminal.print)
    if (fleet && !stopping.signal.aborted)
      await watchFleet({ fleet, terminal, demo: options.demo, signal: stopping.signal })
    return 0
  } catch (error) {
    if (stopping.signal.aborted) return 0
    terminal.print(`npm start failed: ${(error as Error).message}\nThe logs are in ${devDir} and ${devDir}/logs.`)
    return 1
  } finally {
    await stack.disposeAsync()
    stopping.finish()
  }
}

type Options = { demo: boolean; open: boolean; reset: boolean; dataDir: string }

function readOptions(): Options | null {
  try {
    const { values } = parseArgs({
      options: {
        'no-demo': { type: 'boolean' },
        demo: { type: 'boolean' },
        open: { type: 'boolean' },
        reset: { type: 'boolean' },
        'data-dir': { type: 'string' },
        help: { type: 'boolean' },
      },
    })
    // Somebody's own Kafka has topics of these names, perhaps, and readers.
    const { demo = !process.env.KAFKA_BROKERS, open = false, reset = false, 'data-dir': dataDir = defaultDir } = values
    if (!values.help) return { demo: demo && !values['no-demo'], open, reset, dataDir: resolve(dataDir) }
  } catch (error) {
    console.error((error as Error).message)
  }
  console.error(usage)
  return null
}

/** The desktop knows which browser. */
function openInBrowser(url: string, print: (line: string) => void): void {
  const opener = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open'
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  child.once('error', () => print(`${opener} is not there; open ${url} yourself.`))
  child.unref()
}

function reportRunning(pid: number, stackPath: string, reset: boolean): number {
  console.log(`dlq-manager is running here already (pid ${pid}).`)
  const running = readStackFile(stackPath)
  if (running) console.log(placeLines(running).join('\n'))
  if (!reset) return 0
  console.error('--reset needs it stopped first: its data is in use.')
  return 1
}

/** A runner that was killed leaves its children to the reaper, which needs a moment. */
async function waitForFormerRun(stackPath: string): Promise<void> {
  const pids = Object.entries(readStackFile(stackPath)?.pids ?? {}).flatMap(([name, pid]) =>
    name !== 'runner' && pid !== null ? [pid] : [],
  )
  for (const deadline = Date.now() + 15_000; pids.some(isAlive) && Date.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** The first signal stops in order, the second leaves the rest to the reaper. */
function stopOnSignals(onStop: () => void): { signal: AbortSignal; finish(): void } {
  const controller = new AbortController()
  let stoppedAt = 0
  const stop = () => {
    if (controller.signal.aborted) {
      if (performance.now() - stoppedAt < sameSignalMs) return
      process.exit(130)
    }
    stoppedAt = performance.now()
    onStop()
    controller.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  // If npm is killed, this process is not told but gets another parent, and then stops too.
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.env.npm_lifecycle_event && process.ppid !== parent && !controller.signal.aborted) stop()
  }, 1000)
  watch.unref()
  return { signal: controller.signal, finish: () => clearInterval(watch) }
}
