// Logical types as text and back: decimals with their digits, dates and times as ISO 8601. What ISO 8601 cannot say (a
// year beyond 9999, a time of 25 hours) is shown as the number that it is, and numbers are accepted everywhere.

import type { Logical } from './avro-schema.ts'

type Timed = Exclude<Logical, { kind: 'decimal' }>

const dayMs = 86_400_000
const yearZeroMs = Date.UTC(2000, 0, 1) - 730_485 * dayMs
const year10000Ms = Date.UTC(10_000, 0, 1)

/** Null: show the number. */
export function timeText(value: number | bigint, logical: Timed): string | null {
  if (logical.kind === 'date') {
    const ms = Number(value) * dayMs
    return isShown(ms) ? new Date(ms).toISOString().slice(0, 10) : null
  }
  if (logical.kind === 'time') {
    const [ms, rest] = split(value, logical.digits)
    return ms >= 0 && ms < dayMs ? `${new Date(ms).toISOString().slice(11, 23)}${rest}` : null
  }
  const [ms, rest] = split(value, logical.digits)
  return isShown(ms) ? `${new Date(ms).toISOString().slice(0, 23)}${rest}${logical.local ? '' : 'Z'}` : null
}

function isShown(ms: number): boolean {
  return ms >= yearZeroMs && ms < year10000Ms
}

/** Whole milliseconds, and the digits behind them. */
function split(value: number | bigint, digits: 3 | 6 | 9): [ms: number, rest: string] {
  if (digits === 3) return [Number(value), '']
  const unit = digits === 6 ? 1000n : 1_000_000n
  const whole = BigInt(value)
  const rest = ((whole % unit) + unit) % unit
  return [Number((whole - rest) / unit), rest.toString().padStart(digits - 3, '0')]
}

/** The number that such a text stands for. Null where it is none. */
export function timeValue(text: string, logical: Timed): bigint | null {
  if (logical.kind === 'date') {
    const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? msOf(`${text}T00:00:00.000Z`) : null
    return ms === null ? null : BigInt(ms / dayMs)
  }
  const { digits } = logical
  const [, time, fraction = ''] = /^(.*?)(?:\.(\d+))?$/.exec(text.endsWith('Z') ? text.slice(0, -1) : text) ?? []
  const wantsZone = logical.kind === 'timestamp' && !logical.local
  if (time === undefined || fraction.length > digits || text.endsWith('Z') !== wantsZone) return null
  const form = logical.kind === 'time' ? /^\d\d:\d\d:\d\d$/ : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/
  const ms = form.test(time) ? msOf(`${logical.kind === 'time' ? '1970-01-01T' : ''}${time}.000Z`) : null
  if (ms === null) return null
  return BigInt(ms / 1000) * 10n ** BigInt(digits) + BigInt(fraction.padEnd(digits, '0'))
}

/** Null for a date that is none, such as the 30th of February. */
function msOf(iso: string): number | null {
  const ms = Date.parse(iso)
  return Number.isNaN(ms) || new Date(ms).toISOString() !== iso ? null : ms
}

/** More digits would keep the process busy: their number of steps grows with the square. */
export const maxDecimalBytes = 1000

/** "40.58" from the big-endian two's complement of 4058 with scale 2. No bytes are 0. */
export function decimalText(bytes: Buffer, scale: number): string {
  const unscaled = twosComplement(bytes).toString()
  if (scale === 0) return unscaled
  const isNegative = unscaled.startsWith('-')
  const digits = (isNegative ? unscaled.slice(1) : unscaled).padStart(scale + 1, '0')
  return `${isNegative ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Most decimals are short, and a number takes a third of a bigint's time. */
function twosComplement(bytes: Buffer): number | bigint {
  if (bytes.length === 0) return 0
  if (bytes.length <= 6) return bytes.readIntBE(0, bytes.length)
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`))
}

/**
 * The bytes of such a text: as few as it takes, or `size` of them. Null where it is no decimal, has more digits behind
 * the point than the scale, or does not fit.
 */
export function decimalBytes(text: string, scale: number, size: number | null): Buffer | null {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined || fraction.length > scale || whole.length > maxDecimalBytes * 2) return null
  const digits = BigInt(whole + fraction.padEnd(scale, '0'))
  const unscaled = sign === '-' ? -digits : digits
  // A bit for the sign.
  const needed = Math.floor((unscaled < 0n ? -unscaled - 1n : unscaled).toString(2).length / 8) + 1
  const minimal = unscaled === 0n || unscaled === -1n ? 1 : needed
  const length = size ?? minimal
  if (length < minimal || length > maxDecimalBytes) return null
  return Buffer.from(
    BigInt.asUintN(length * 8, unscaled)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  )
}
