// The server's time, from the Date header of its answers: a wrong clock of the laptop does not show.

let aheadMs = 0
let known = false

export function readServerDate(header: string | null): void {
  const at = header === null ? Number.NaN : Date.parse(header)
  if (Number.isNaN(at)) return
  // The header has whole seconds. Differences below two seconds are its rounding and the way of the answer.
  const difference = at + 500 - Date.now()
  if (!known || Math.abs(difference - aheadMs) > 2000) aheadMs = Math.abs(difference) < 2000 ? 0 : difference
  known = true
}

export function serverNow(): number {
  return serverTime(Date.now())
}

/** A time of the page's clock, by the server's. */
export function serverTime(pageMs: number): number {
  return pageMs + aheadMs
}
