/**
 * Milliseconds by a clock that is never set, for measuring how long something takes or lasts. It goes on from the time
 * at which the process began, and so it is not the time of day: the machine's clock may have been set since. Between two
 * calls of `Date.now()` hours may be missing.
 */
export function monotonicNow(): number {
  return performance.timeOrigin + performance.now()
}
