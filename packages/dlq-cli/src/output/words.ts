// Values as people read them. Texts of dead letters come from strangers, so nothing in them may steer a terminal.

/** On one line, with escape sequences and other control characters made visible. */
export function plain(value: unknown): string {
  if (value === null || value === undefined) return '–'
  return String(value)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, escaped)
}

/** The same over several lines: line breaks and tabs stay. */
export function plainLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, (found) => (/[\n\t]/.test(found) ? found : escaped(found)))
}

/** The same JSON: beyond ASCII, what steers a terminal stands only within its texts, and there it can be written by its number. */
export function plainJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escaped)
}

function escaped(character: string): string {
  return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`
}

const units = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
] as const

/** "3 m ago", "in 2 h"; "–" for null. */
export function ago(time: string | null, now: number): string {
  if (time === null) return '–'
  const seconds = Math.round((now - Date.parse(time)) / 1000)
  const size = Math.abs(seconds)
  const [unit, name] = units.find(([unit]) => size >= unit) ?? [1, 's']
  const amount = `${Math.floor(size / unit)} ${name}`
  return seconds < 0 ? `in ${amount}` : `${amount} ago`
}

/** 3000 → "3,000". */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** A measured rate: 49.4 → "49", 3.14 → "3.1". */
export function rate(value: number): string {
  return count(value >= 10 ? Math.round(value) : Math.round(value * 10) / 10)
}

/** "3,000 messages", "1 message". */
export function messages(value: number): string {
  return counted(value, 'message')
}

/** "3 partitions", "1 partition". */
export function counted(value: number, one: string): string {
  return `${count(value)} ${one}${value === 1 ? '' : 's'}`
}

/** Further from now than this is no date that a clock or the API knows. */
const longestMs = 36_500 * 86_400_000

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** "90s", "30m", "1h30m", "1d" in ms, as the API reads them; null if it is no such text, or more than a hundred years. */
export function durationMs(text: string): number | null {
  if (!/^(\d+(ms|s|m|h|d))+$/.test(text)) return null
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g)) total += Number(amount) * unitMs[unit!]!
  return total > longestMs ? null : total
}
