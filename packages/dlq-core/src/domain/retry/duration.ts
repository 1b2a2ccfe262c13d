// Lengths of time as people write them ("5m", "1h30m"), in the configuration and in the API.

const unitsMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

/** "500ms", "5m", "1h30m", or plain digits, which are milliseconds → milliseconds; null where the text is none of these. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim()
  if (/^\d+$/.test(trimmed)) return Number(trimmed)
  if (!/^(\d+(ms|s|m|h|d))+$/.test(trimmed)) return null
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+)(ms|s|m|h|d)/g))
    total += Number(amount) * unitsMs[unit as keyof typeof unitsMs]
  return total
}

/** Milliseconds → the shortest text that `parseDuration` reads back: 5400000 → "1h30m", 0 → "0s". Whole milliseconds only. */
export function formatDuration(milliseconds: number): string {
  let rest = Math.round(milliseconds)
  let text = ''
  for (const [unit, ms] of Object.entries(unitsMs)) {
    const amount = Math.floor(rest / ms)
    if (amount > 0) text += `${amount}${unit}`
    rest -= amount * ms
  }
  return text || '0s'
}
