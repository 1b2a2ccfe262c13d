// Notices, by graphile-worker's timetable, that the clock of this process was set. The timetable waits for the minute
// that it expects next: after the clock was set back by a month it would schedule nothing for a month. After the clock was
// set forward it would schedule each minute in between, for every job.

import type { WorkerEvents } from 'graphile-worker'

const minuteMs = 60_000
const leastBackMs = 5 * minuteMs
/** A process that was frozen for less makes up for each tick. */
const leastForwardMs = 6 * 60 * minuteMs

/** Resolves, with words for the log, when the timetable has to begin anew. */
export function clockSet(events: WorkerEvents): Promise<string> {
  return new Promise((resolve) => {
    events.on('cron:prematureTimer', ({ currentTimestamp, expectedTimestamp }) => {
      if (expectedTimestamp - currentTimestamp > leastBackMs) resolve('the clock was set back')
    })
    events.on('cron:overdueTimer', ({ currentTimestamp, expectedTimestamp }) => {
      if (currentTimestamp - expectedTimestamp > leastForwardMs) resolve('the clock was set forward')
    })
  })
}
