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
/** What was missed longer ago waits for the next tick. graphile-worker looks at each minute of it. */
const maxBackfillMs = 31 * 24 * hourMs
/** The waits between tries grow from 3 s; the seven waits add up to 18 minutes. */
const maxAttempts = 8

/** The job as graphile-worker schedules it from `now` on; null where it is off. @throws where the timetable cannot be read */
export function toCronItem({ name, schedule }: CronJob, now: Date): ParsedCronItem | null {
  if (schedule === 'off') return null
  const item = parse({ name, schedule })
  item.options.backfillPeriod = backfillMs({ name, schedule }, now)
  return item
}

/**
 * The last tick is made up for where it was missed while no retrier ran, and the next one is far away from it. The period
 * ends in the middle between it and the one before, which would be made up for as well.
 */
function backfillMs(job: Timetable, now: Date): number {
  const [last, next] = [lastTick(job, now), nextTick(job, now)]
  if (last === null || (next !== null && next.getTime() - last.getTime() < hourMs)) return 0
  const before = lastTick(job, last)
  const gapMs = before === null ? yearMs : last.getTime() - before.getTime()
  return Math.min(now.getTime() - last.getTime() + Math.floor(gapMs / 2), maxBackfillMs)
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
