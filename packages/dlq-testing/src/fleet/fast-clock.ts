// Preloaded into a service (NODE_OPTIONS=--import=…), it makes the hours of graphile-worker's timetable pass in seconds: Date
// runs TEST_CLOCK_FACTOR times as fast from TEST_CLOCK_FROM to TEST_CLOCK_TO, and stands still before the file
// TEST_CLOCK_FILE says when to begin. Only the timetable's own timers follow it, so that time limits stay what they are.
import { readFileSync } from 'node:fs'

const RealDate = Date
const realSetTimeout = setTimeout
const { TEST_CLOCK_FILE: file = '', TEST_CLOCK_FACTOR, TEST_CLOCK_FROM, TEST_CLOCK_TO } = process.env
const [factor, from, to] = [Number(TEST_CLOCK_FACTOR), Number(TEST_CLOCK_FROM), Number(TEST_CLOCK_TO)]
let begin: number | null = null

function now(): number {
  if (begin === null) {
    try {
      begin = Number(readFileSync(file, 'utf8'))
    } catch {
      return from // Not yet.
    }
  }
  return Math.min(from + Math.max(0, RealDate.now() - begin) * factor, to)
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})

globalThis.setTimeout = Object.assign(
  (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    // The direct caller. Timers of the driver, which queries of the timetable start, do not count.
    const caller = new Error().stack?.split('\n')[2]
    const isOfTimetable = caller?.includes('graphile-worker/dist/cron.js') ?? false
    return realSetTimeout(callback, isOfTimetable ? Math.max(1, (ms ?? 0) / factor) : ms, ...args)
  },
  realSetTimeout, // node:util's promisify finds its own version there.
) as typeof setTimeout
