// MessagePack's extension −1, a time: https://github.com/msgpack/msgpack/blob/master/spec.md#timestamp-extension-type

const mostSeconds = 253_402_300_799n
const leastSeconds = -62_167_219_200n

/** ISO 8601 with as many digits as are needed, of the years 0 to 9999; null for anything else. */
export function timestampText(data: Buffer): string | null {
  const time = timeOf(data)
  if (time === null || time.nanos > 999_999_999 || time.seconds > mostSeconds || time.seconds < leastSeconds)
    return null
  const whole = new Date(Number(time.seconds) * 1000).toISOString().slice(0, 19)
  const digits = String(time.nanos).padStart(9, '0').replace(/0+$/, '')
  return `${whole}${digits === '' ? '' : `.${digits}`}Z`
}

function timeOf(data: Buffer): { seconds: bigint; nanos: number } | null {
  if (data.length === 4) return { seconds: BigInt(data.readUInt32BE()), nanos: 0 }
  if (data.length === 12) return { seconds: data.readBigInt64BE(4), nanos: data.readUInt32BE() }
  if (data.length !== 8) return null
  const both = data.readBigUInt64BE()
  return { seconds: both & 0x3_ffff_ffffn, nanos: Number(both >> 34n) }
}

/** The shortest form of the time; null where the text is none. */
export function timestampBytes(text: string): Buffer | null {
  const [, whole, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text) ?? []
  const ms = whole === undefined ? Number.NaN : Date.parse(`${whole}Z`)
  // A day that the month does not have becomes one of the next month.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(whole!)) return null
  const seconds = BigInt(ms / 1000)
  const nanos = Number(fraction.padEnd(9, '0'))
  if (seconds < 0n || seconds > 0x3_ffff_ffffn) {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt32BE(nanos)
    bytes.writeBigInt64BE(seconds, 4)
    return bytes
  }
  const bytes = Buffer.alloc(nanos === 0 && seconds <= 0xffff_ffffn ? 4 : 8)
  if (bytes.length === 4) bytes.writeUInt32BE(Number(seconds))
  else bytes.writeBigUInt64BE((BigInt(nanos) << 34n) | seconds)
  return bytes
}
