// Keeps a service running: if it dies, it is restarted on the same port after a growing wait.

import { setTimeout as sleep } from 'node:timers/promises'
import { type ServiceOptions, type ServiceProcess, startService } from 'dlq-testing/fleet/service-process.ts'

export type SupervisedService = {
  name: string
  url: string
  readonly pid: number
  ready(): Promise<void>
  stop(): Promise<void>
}

const minWaitMs = 500
const maxWaitMs = 10_000
/** After this time without a death, the next wait is the shortest one again. */
const settledMs = 30_000
const drainMs = 10_000

/** `onChange` is called with a line for people whenever the service dies or is back. */
export async function superviseService(
  options: ServiceOptions,
  onChange: (line: string) => void,
): Promise<SupervisedService> {
  let current: ServiceProcess = await startService(options)
  const { url, port, name } = current
  let stopping = false

  async function supervise(): Promise<void> {
    for (let waitMs = minWaitMs; ; ) {
      const started = Date.now()
      const { code, signal } = await current.exited
      if (stopping) return
      waitMs = Date.now() - started > settledMs ? minWaitMs : waitMs
      onChange(`${name} ended (${signal ?? `exit ${code}`}); starting it again in ${waitMs / 1000} s`)
      await sleep(waitMs)
      waitMs = Math.min(waitMs * 2, maxWaitMs)
      if (stopping) return
      current = await startService({ ...options, port })
      onChange(`${name} started again (pid ${current.pid})`)
    }
  }
  const supervising = supervise()

  return {
    name,
    url,
    get pid() {
      return current.pid
    },
    ready: () => current.ready(60_000),
    async stop() {
      stopping = true
      await current.stop('SIGTERM', drainMs)
      await supervising
    },
  }
}
