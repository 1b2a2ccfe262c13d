// Decides whether a record's value fits into the `payload jsonb` column, in one scan
// of its bytes. A validating scan and not JSON.parse: parsing takes about twice as
// long (7 µs against 4 µs for 1 KB), builds objects that are not used, and hides what JSON
// allows and jsonb refuses.
import { isUtf8 } from 'node:buffer'

/**
 * Longer values stay bytes only. Kafka's default limit is 1 MiB. At 16 MiB, `[{},{},…]` keeps PostgreSQL busy
 * for 15 s. Also puts every jsonb limit of 2^28 (strings, keys, elements) out of reach.
 */
export const maxProjectedBytes = 4 * 1024 * 1024

/** PostgreSQL recurses per level and fails with "stack depth limit exceeded" somewhere past 10,000. */
export const maxProjectedDepth = 1000

/**
 * PostgreSQL writes exponents out: `1e131071` becomes 131,072 characters. Without a bound, a record of 30 KB would be an
 * answer of 500 MB, and whoever looks at a list that it is in would wait for it.
 */
const maxWrittenOut = 512 * 1024
const maxWrittenOutPerByte = 4

// The limits of numeric, which jsonb stores numbers as:
// https://www.postgresql.org/docs/current/datatype-numeric.html
const maxDigitsBeforePoint = 131_072
const maxDigitsAfterPoint = 16_383

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const lowerE = 0x65
const lowerU = 0x75

/** The digits that the exponents of the value add, which is scanned at once. */
let writtenOut = 0

/** The skip functions return this instead of the next position. */
const refused = -1

/**
 * Returns the value's JSON text when PostgreSQL's jsonb can hold it, and null otherwise:
 * no JSON (RFC 8259), not UTF-8, a leading byte order mark, a U+0000 or lone surrogate
 * escape, a number beyond numeric, exponents that are much longer when they are written out, nesting deeper than
 * `maxProjectedDepth`, longer than `maxProjectedBytes`. The text is the value's own, character for character: numbers
 * that a JavaScript number would round stay whole.
 * Values that jsonb refuses: https://www.postgresql.org/docs/current/datatype-json.html
 */
export function projectPayload(value: Buffer | null): string | null {
  if (value === null || value.length === 0 || value.length > maxProjectedBytes) return null
  writtenOut = 0
  const end = skipValue(value, skipSpace(value, 0), 0)
  if (writtenOut > maxWrittenOut + maxWrittenOutPerByte * value.length) return null
  if (end === refused || skipSpace(value, end) !== value.length || !isUtf8(value)) return null
  return value.toString('utf8')
}

/**
 * As `projectPayload`, of JSON text that one of our own readers has written: valid, not deep, with numbers that a codec
 * holds. Only its length is left to look at, and exponents, and escapes, which it has for characters that jsonb may refuse.
 */
export function projectWritten(json: string): string | null {
  // A character takes three bytes at most.
  const isSure = json.length <= maxProjectedBytes / 3 && !json.includes('\\u') && !/\de[+-]\d/.test(json)
  return isSure ? json : projectPayload(Buffer.from(json))
}

// The loops below check for the end themselves: a read past it yields undefined, which every
// test rejects, but one such read slows down all later ones.

/** 1 for every byte of white space. */
const space = Uint8Array.from({ length: 256 }, (_, byte) => (' \n\r\t'.includes(String.fromCharCode(byte)) ? 1 : 0))

function skipSpace(json: Buffer, at: number): number {
  const end = json.length
  while (at < end) {
    if (space[json[at]!] !== 1) return at
    at++
  }
  return at
}

function skipValue(json: Buffer, at: number, depth: number): number {
  switch (json[at]) {
    case quote:
      return skipString(json, at)
    case openBrace:
      return skipObject(json, at, depth + 1)
    case openBracket:
      return skipArray(json, at, depth + 1)
    case 0x74:
      return skipWord(json, at, 'true')
    case 0x66:
      return skipWord(json, at, 'false')
    case 0x6e:
      return skipWord(json, at, 'null')
    default:
      return skipNumber(json, at)
  }
}

function skipObject(json: Buffer, at: number, depth: number): number {
  if (depth > maxProjectedDepth) return refused
  at = skipSpace(json, at + 1)
  if (json[at] === closeBrace) return at + 1
  while (json[at] === quote) {
    at = skipString(json, at)
    if (at === refused) return refused
    at = skipSpace(json, at)
    if (json[at] !== colon) return refused
    at = skipValue(json, skipSpace(json, at + 1), depth)
    if (at === refused) return refused
    at = skipSpace(json, at)
    if (json[at] === closeBrace) return at + 1
    if (json[at] !== comma) return refused
    at = skipSpace(json, at + 1)
  }
  return refused
}

function skipArray(json: Buffer, at: number, depth: number): number {
  if (depth > maxProjectedDepth) return refused
  at = skipSpace(json, at + 1)
  if (json[at] === closeBracket) return at + 1
  while (true) {
    at = skipValue(json, at, depth)
    if (at === refused) return refused
    at = skipSpace(json, at)
    if (json[at] === closeBracket) return at + 1
    if (json[at] !== comma) return refused
    at = skipSpace(json, at + 1)
  }
}

function skipWord(json: Buffer, at: number, word: string): number {
  for (let index = 0; index < word.length; index++) {
    if (json[at + index] !== word.charCodeAt(index)) return refused
  }
  return at + word.length
}

/** 1 for every byte that stands for itself in a string: no control character, quote or backslash. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== quote && byte !== backslash ? 1 : 0,
)

function skipString(json: Buffer, at: number): number {
  const end = json.length
  at++
  while (true) {
    let byte = 0
    while (at < end) {
      byte = json[at]!
      if (plain[byte] !== 1) break
      at++
    }
    if (byte === quote) return at + 1
    if (byte !== backslash) return refused
    at = skipEscape(json, at)
    if (at === refused) return refused
  }
}

/** 1 for every byte that may follow a backslash, apart from `u`. */
const shortEscape = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
)

function skipEscape(json: Buffer, at: number): number {
  const letter = json[at + 1]
  if (letter === undefined) return refused
  if (letter !== lowerU) return shortEscape[letter] === 1 ? at + 2 : refused
  const unit = hexUnit(json, at + 2)
  // Invalid hex is −1, so this refuses it together with U+0000, which PostgreSQL's text cannot hold.
  if (unit <= 0) return refused
  if (unit < 0xd800 || unit > 0xdfff) return at + 6
  const pairs = unit < 0xdc00 && json[at + 6] === backslash && json[at + 7] === lowerU
  const low = pairs ? hexUnit(json, at + 8) : refused
  return low >= 0xdc00 && low <= 0xdfff ? at + 12 : refused
}

/** The UTF-16 unit that four hex digits at `at` spell, or −1. */
function hexUnit(json: Buffer, at: number): number {
  let unit = 0
  for (let index = at; index < at + 4; index++) {
    const digit = hexDigit(json[index] ?? 0)
    if (digit === -1) return -1
    unit = unit * 16 + digit
  }
  return unit
}

function hexDigit(byte: number): number {
  if (byte >= zero && byte <= nine) return byte - zero
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/**
 * numeric counts digits as they are written, zeros too: `0e-16384` overflows it. A zero
 * with a huge positive exponent would fit and is refused all the same.
 */
function skipNumber(json: Buffer, at: number): number {
  if (json[at] === minus) at++
  const integerAt = at
  at = skipDigits(json, at)
  const integerDigits = at - integerAt
  if (integerDigits === 0 || (integerDigits > 1 && json[integerAt] === zero)) return refused

  let fractionDigits = 0
  if (json[at] === point) {
    const fractionAt = at + 1
    at = skipDigits(json, fractionAt)
    fractionDigits = at - fractionAt
    if (fractionDigits === 0) return refused
  }

  let exponent = 0
  if (((json[at] ?? 0) | 0x20) === lowerE) {
    const sign = json[at + 1]
    const exponentAt = sign === minus || sign === 0x2b ? at + 2 : at + 1
    at = skipDigits(json, exponentAt)
    if (at === exponentAt) return refused
    exponent = Number(json.toString('latin1', exponentAt, at)) * (sign === minus ? -1 : 1)
    writtenOut += Math.abs(exponent)
  }
  return integerDigits + exponent <= maxDigitsBeforePoint && fractionDigits - exponent <= maxDigitsAfterPoint
    ? at
    : refused
}

function skipDigits(json: Buffer, at: number): number {
  const end = json.length
  while (at < end) {
    const byte = json[at]!
    if (byte < zero || byte > nine) return at
    at++
  }
  return at
}
