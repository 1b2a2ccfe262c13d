// Floating-point numbers as JSON texts that are the same number again.

/** The shortest text that is this float of 32 bits again. */
export function floatText(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) return doubleText(value)
  for (let precision = 6; precision < 9; precision += 1) {
    const shorter = Number(value.toPrecision(precision))
    if (Math.fround(shorter) === value) return String(shorter)
  }
  return String(Number(value.toPrecision(9)))
}

/** NaN and the infinities are texts. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Numbers that the texts of `doubleText` stand for. */
export const notFinite: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
])
