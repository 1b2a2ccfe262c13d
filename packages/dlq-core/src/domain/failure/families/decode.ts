// Reads header values as text and numbers. Nothing here throws: an unreadable value is null.
// Numbers are decimal text or big-endian binary; each family documents which.

const maxInt32 = 2n ** 31n - 1n
const maxInt64 = 2n ** 63n - 1n

/** UTF-8 text; bytes that are not UTF-8 become U+FFFD. */
export function text(value: Buffer | null): string | null {
  if (value === null) return null
  return value === standIn ? known : value.toString('utf8')
}

/** Stands for a text that is known already, in place of its bytes. */
const standIn = Buffer.alloc(0)
let known: string | null = null

/** Runs `read`, in which `text` of the bytes that it is given is this text: decoding a stack trace takes long. */
export function readingAs<T>(decoded: string, read: (bytes: Buffer) => T): T {
  known = decoded
  try {
    return read(standIn)
  } finally {
    known = null
  }
}

/** As `text`, with the empty text null: for names (topics, groups, classes), which are never empty. */
export function name(value: Buffer | null): string | null {
  return value === null || value.length === 0 ? null : value.toString('utf8')
}

/** Decimal text, at most 19 digits with an optional minus. */
export function decimal(value: Buffer | null): bigint | null {
  if (value === null || value.length > 20) return null
  const digits = value.toString('latin1')
  return /^-?\d{1,19}$/.test(digits) ? BigInt(digits) : null
}

/**
 * A number as Spring writes it: int32 or int64 big-endian (`DeadLetterRecordManager.maybeAddOriginalHeaders`).
 * Tools that rewrite headers leave decimal text instead. The two never meet: four or eight printable bytes would
 * be a number above 538 million, or above 2.3 × 10¹⁸, which no partition, offset or timestamp reaches.
 */
export function fixedInteger(value: Buffer | null): bigint | null {
  if (value === null) return null
  if (isPrintable(value)) return decimal(value)
  if (value.length === 8) return value.readBigInt64BE()
  return value.length === 4 ? BigInt(value.readInt32BE()) : null
}

/** As `fixedInteger`, of any length up to eight bytes: Java's `BigInteger.toByteArray()`, in two's complement. */
export function variableInteger(value: Buffer | null): bigint | null {
  if (value === null) return null
  if (isPrintable(value)) return decimal(value)
  return value.length <= 8 ? BigInt.asIntN(value.length * 8, BigInt(`0x${value.toString('hex')}`)) : null
}

/**
 * A partition, null beyond int32. A negative one is kept: with −1 Kafka says that the record was on no
 * partition (a punctuator may create such a record), and that record cannot be sent back.
 */
export function toPartition(value: bigint | null): number | null {
  return value !== null && value >= -maxInt32 - 1n && value <= maxInt32 ? Number(value) : null
}

/** An offset, null where negative. */
export function toOffset(value: bigint | null): bigint | null {
  return value !== null && value >= 0n && value <= maxInt64 ? value : null
}

/** Milliseconds since the epoch, null where negative (−1: no timestamp). */
export function toTimestamp(value: bigint | null): bigint | null {
  return toOffset(value)
}

/** A count, null where negative or beyond int32. */
export function toCount(value: bigint | null): number | null {
  return value !== null && value >= 0n && value <= maxInt32 ? Number(value) : null
}

function isPrintable(value: Buffer): boolean {
  for (const byte of value) if (byte < 0x20 || byte > 0x7e) return false
  return true
}
