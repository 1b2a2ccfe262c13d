import { getEventListeners } from 'node:events'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { createWake, type LoopOptions, type PassResult, runLoop } from './run-loop.ts'

/** A log that keeps its lines. */
function recordingLog() {
  const lines: { level: string; event: string; failures?: number; backoffMs?: number }[] = []
  const log = pino(
    { level: 'trace', messageKey: 'event', formatters: { level: (level) => ({ level }) } },
    { write: (line) => lines.push(JSON.parse(line)) },
  )
  return { log, lines }
}

function loop(pass: (count: number, stop: () => void) => Promise<PassResult>, options: Partial<LoopOptions> = {}) {
  const stopping = new AbortController()
  const { log, lines } = recordingLog()
  let count = 0
  const running = runLoop(() => pass(++count, () => stopping.abort()), {
    name: 'test',
    intervalMs: 60_000,
    signal: stopping.signal,
    log,
    ...options,
  })
  return { running, lines, stop: () => stopping.abort(), count: () => count }
}

describe('runLoop', () => {
  test('repeats a pass that has more to do at once, and lets other code run in between', async () => {
    let ticks = 0
    const ticking = setInterval(() => (ticks += 1), 1)
    const { running, count } = loop(async (count, stop) => {
      if (count === 500 || ticks > 3) stop()
      const end = performance.now() + 1
      while (performance.now() < end);
      return { more: true }
    })
    await running
    clearInterval(ticking)
    expect(count()).toBeGreaterThan(2)
    expect(ticks).toBeGreaterThan(0)
  })

  test('waits for the interval where a pass has no more to do', async () => {
    const times: number[] = []
    const { running } = loop(
      async (count, stop) => {
        times.push(performance.now())
        if (count === 3) stop()
        return { more: false }
      },
      { intervalMs: 40 },
    )
    await running
    // A tenth of jitter, and a millisecond that timers may be early by.
    for (const wait of [times[1]! - times[0]!, times[2]! - times[1]!]) expect(wait).toBeGreaterThanOrEqual(35)
  })

  test('waits as long as the pass says, where it says so', async () => {
    const { running, count } = loop(async (count, stop) => {
      if (count === 3) stop()
      return { more: false, waitMs: 1 }
    })
    await running
    expect(count()).toBe(3)
  })

  test('ends a wait when it is notified of work', async () => {
    const wake = createWake()
    const { running, count } = loop(
      async (count, stop) => {
        if (count === 2) stop()
        else setTimeout(() => wake.notify(), 5)
        return { more: false }
      },
      { wake },
    )
    await running
    expect(count()).toBe(2)
  })

  test('ends its wait when it is stopped', async () => {
    const { running, stop, count } = loop(async () => ({ more: false }))
    setTimeout(stop, 5)
    await running
    expect(count()).toBe(1)
  })

  test('does not begin when it is stopped already', async () => {
    const { running, count } = loop(async () => ({ more: true }), { signal: AbortSignal.abort() })
    await running
    expect(count()).toBe(0)
  })

  test('goes on after errors, waits longer after each, and says when it has recovered', async () => {
    const { running, lines } = loop(
      async (count, stop) => {
        if (count <= 6) throw new Error(`failure ${count}`)
        stop()
        return { more: false }
      },
      { maxBackoffMs: 2 },
    )
    await running
    expect(lines.map(({ level, event, failures }) => [level, event, failures])).toEqual([
      ['info', 'loop_failed', 1],
      ['info', 'loop_failed', 2],
      ['warn', 'loop_failed', 3],
      ['warn', 'loop_failed', 4],
      ['warn', 'loop_failed', 5],
      ['error', 'loop_failed', 6],
      ['info', 'loop_recovered', 6],
    ])
  })

  test('does not tell each time of a fault that stays', async () => {
    const { running, lines } = loop(
      async (count, stop) => {
        if (count <= 20) throw new Error(count === 10 ? 'another' : 'away')
        stop()
        return { more: false }
      },
      { maxBackoffMs: 1 },
    )
    await running
    expect(lines.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 10, 11, 20])
    expect(lines.at(-1)!.event).toBe('loop_recovered')
  })

  test('doubles the wait after each error, up to its bound', async () => {
    const { running, lines } = loop(
      async (count, stop) => {
        if (count === 4) stop()
        throw new Error('again')
      },
      { maxBackoffMs: 300 },
    )
    await running
    expect(lines.map(({ backoffMs }) => backoffMs)).toEqual([200, 300, 300])
  })

  test('a notice does not cut the wait after an error short', async () => {
    const wake = createWake()
    const times: number[] = []
    const { running } = loop(
      async (count, stop) => {
        times.push(performance.now())
        wake.notify()
        if (count === 2) stop()
        throw new Error('down')
      },
      { wake, maxBackoffMs: 60 },
    )
    await running
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(55)
  })

  test('treats an error after the stop as part of stopping', async () => {
    const { running, lines } = loop(async (_, stop) => {
      stop()
      throw new Error('connection ended')
    })
    await running
    expect(lines).toEqual([])
  })
})

describe('a wake', () => {
  const forever = new AbortController().signal

  test('that was notified before the wait ends the next wait, once', async () => {
    const wake = createWake()
    wake.notify()
    wake.notify()
    await wake.wait(60_000, forever)

    const start = performance.now()
    await wake.wait(20, forever)
    expect(performance.now() - start).toBeGreaterThanOrEqual(18)
  })

  test('that ended by its time waits in full the next time', async () => {
    const wake = createWake()
    await wake.wait(1, forever)
    const start = performance.now()
    await wake.wait(20, forever)
    expect(performance.now() - start).toBeGreaterThanOrEqual(18)
  })

  test('leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    const wake = createWake()
    for (let n = 0; n < 3; n += 1) await wake.wait(1, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
