// Requests at even intervals, whether or not the earlier ones have been answered. (autocannon's own fixed rate sends
// those of a second at once, so that each waits for the others.)

import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../measure/statistics.ts'

/** Per second, for requests that add up all groups, topics or messages of a range: 200 consoles that ask every ten seconds. */
export const overviewRate = 20

/** `rate`: replaces the usual one. `streams`: each answer goes on, and its beginning counts. */
export type Case = { name: string; paths: readonly string[]; rate?: number; streams?: boolean }

export type SteadyLoad = { seconds: number; rate: number; connections: number; streams?: boolean }

/** Latencies in milliseconds, each since the time when its request was due. Throws where an answer is not 2xx. */
export async function loadSteadily(
  url: string,
  paths: readonly string[],
  { seconds, rate, connections, streams = false }: SteadyLoad,
): Promise<{ p50: number; p99: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  try {
    // Opens every connection without work for the database.
    await Promise.all(Array.from({ length: connections }, () => answer(agent, `${url}/healthz`)))
    const startedAt = performance.now()
    const latencies: Promise<number>[] = []
    for (let n = 0; n < seconds * rate; n += 1) {
      const dueAt = startedAt + (n * 1000) / rate
      if (dueAt > performance.now()) await sleep(dueAt - performance.now())
      const read = streams ? beginning(url + paths[n % paths.length]) : answer(agent, url + paths[n % paths.length])
      latencies.push(read.then(() => performance.now() - dueAt))
    }
    const all = await Promise.all(latencies)
    return { p50: percentile(all, 0.5), p99: percentile(all, 0.99) }
  } finally {
    agent.destroy()
  }
}

/** Reads one answer to its end. */
function answer(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const { statusCode = 0 } = response
      if (statusCode < 200 || statusCode > 299) reject(new Error(`${url} answered ${statusCode}`))
      response.on('error', reject)
      response.on('end', resolve)
      response.resume()
    }).on('error', reject)
  })
}

/** Reads the first piece of a stream, and closes it. */
function beginning(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      const { statusCode = 0 } = response
      if (statusCode !== 200) reject(new Error(`${url} answered ${statusCode}`))
      response.once('data', () => {
        response.destroy()
        resolve()
      })
    }).on('error', reject)
  })
}
