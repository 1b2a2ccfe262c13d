// A scheduled job: a name, a timetable in cron's notation (UTC), and work that may be repeated safely.

import { cronTask } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { type ParsedCronItem, parseCronItem } from 'graphile-worker'

export type CronJob = {
  /** A word; it stands in the configuration, the database and the metrics. */
  readonly name: string
  /** Minute, hour, day of month, month, day of week; "off": it runs only when somebody asks. */
  readonly schedule: string
  /** Returns what it did, as a small object for people. Throws where work is left, also the signal's reason. */
  run(context: CronContext): Promise<object>
}

export type CronContext = {
  readonly now: Date
  /** Aborts when the service stops: the job's next try does the rest. */
  readonly signal: AbortSignal
}

const minuteMs = 60_000
const yearMs = 366 * 86_400_000
const hourMs = 60 * minuteMs
/** The waits between tries grow from 3 s; the seven waits add up to 18 minutes. */
const maxAttempts = 8

/** The job as graphile-worker schedules it; null where it is off. @throws where the timetable cannot be read */
export function toCronItem({ name, schedule }: CronJob, now: Date): ParsedCronItem | null {
  if (schedule === 'off') return null
  const item = parse({ name, schedule })
  const first = nextTick({ name, schedule }, now)
  const second = first && nextTick({ name, schedule }, first)
  const intervalMs = first && second ? second.getTime() - first.getTime() : yearMs
  // A tick that was missed while no retrier ran is made up for once, where the next tick is far away. The period ends a
  // minute before one interval, because otherwise the tick before the missed one would be made up for as well.
  item.options.backfillPeriod = intervalMs >= hourMs ? Math.min(intervalMs, 31 * 24 * hourMs) - minuteMs : 0
  return item
}

type Timetable = Pick<CronJob, 'name' | 'schedule'>

/** The first tick after `after`; null where there is none within a year, or the job is off. */
export function nextTick(job: Timetable, after: Date): Date | null {
  return findTick(job, Math.floor(after.getTime() / minuteMs) * minuteMs + minuteMs, minuteMs)
}

/** The last tick before `before`; null where there is none within a year, or the job is off. */
export function lastTick(job: Timetable, before: Date): Date | null {
  return findTick(job, Math.ceil(before.getTime() / minuteMs) * minuteMs - minuteMs, -minuteMs)
}

function findTick({ name, schedule }: Timetable, first: number, stepMs: number): Date | null {
  if (schedule === 'off') return null
  const { match } = parse({ name, schedule })
  for (let at = first; Math.abs(at - first) < yearMs; at += stepMs) {
    const tick = new Date(at)
    const digest = {
      ...{ min: tick.getUTCMinutes(), hour: tick.getUTCHours(), date: tick.getUTCDate() },
      ...{ month: tick.getUTCMonth() + 1, dow: tick.getUTCDay() },
    }
    if (match(digest)) return tick
  }
  return null
}

function parse({ name, schedule }: Timetable): ParsedCronItem {
  return parseCronItem({
    ...{ task: cronTask(name), identifier: name, match: schedule },
    // A separate queue, so that a job never runs twice at a time; other jobs go first.
    options: { queueName: cronTask(name), maxAttempts, priority: 10 },
  })
}
