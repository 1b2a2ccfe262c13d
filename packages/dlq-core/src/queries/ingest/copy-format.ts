// Rows in the binary format of COPY: https://www.postgresql.org/docs/current/sql-copy.html ("Binary Format").
// Binary, because it sends bytes as they are. The driver would send them as hexadecimal text, twice as long, which
// PostgreSQL would have to parse. Measured CPU per row of 4 KB, client and server: multi-row VALUES 93 and 209 µs,
// COPY as text 72 and 236, binary 41 and 143.

import { type JsonText, writtenText } from '../../domain/record/header-json.ts'

/** The TypeScript type of a column's values, for each type of PostgreSQL. Each also allows null. */
type Values = {
  bool: boolean
  uuid: string
  int4: number
  int8: bigint
  text: string
  json: JsonText
  jsonb: string
  bytea: Buffer
  timestamptz: Date
}

export type CopyType = keyof Values

/** A row type's columns, in the order in which COPY lists them, with a type that can take each one's values. */
export type CopyColumns<Row> = {
  [Column in keyof Row]-?: {
    [Type in CopyType]: Exclude<Row[Column], null> extends Values[Type] ? Type : never
  }[CopyType]
}

/** The signature, without flags and without an extension. */
const header = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
/** Stands where the next row would have its number of columns. */
const trailer = Buffer.from([0xff, 0xff])
/** PostgreSQL's epoch, 2000-01-01, in milliseconds since 1970. */
const epochMs = 946_684_800_000
const jsonbVersion = 1

export type CopyEncoder<Row> = {
  /** The row's values are not needed afterwards. */
  add(row: Row): void
  /** The number of rows. */
  readonly count: number
  /** How many bytes a COPY of the rows so far has, without its end. */
  readonly size: number
  /**
   * All bytes of a COPY of the rows so far. They stand in the encoder's memory: `add` and `back` may change them.
   * `isFirst`, `isLast`: whether the COPY begins and ends with them; other encoders may have its other rows.
   */
  bytes(part?: { isFirst?: boolean; isLast?: boolean }): Buffer
  /** Forgets the rows behind the first `count`, which were there when `mark` was taken. */
  back(mark: CopyMark): void
  mark(): CopyMark
  /** The memory, which is larger than at first where it was too small. */
  readonly memory: Buffer
}

/** How far an encoder has come. */
export type CopyMark = Readonly<{ count: number; at: number }>

/** Encodes the rows of a COPY one by one, as they come. */
export function createCopyEncoder<Row extends object>(
  columns: CopyColumns<Row>,
  memory: Buffer = Buffer.allocUnsafe(64 * 1024),
): CopyEncoder<Row> {
  const fields = Object.entries<CopyType>(columns) as [keyof Row, CopyType][]
  const target: Target = { buffer: memory, view: viewOf(memory), at: 0 }
  let count = 0
  append(target, header)
  return {
    add(row) {
      encodeRow(fields, row, target)
      count++
    },
    get count() {
      return count
    },
    get size() {
      return target.at
    },
    bytes({ isFirst = true, isLast = true } = {}) {
      const { at } = target
      append(target, trailer)
      // More rows may come.
      target.at = at
      return target.buffer.subarray(isFirst ? 0 : header.length, isLast ? at + trailer.length : at)
    },
    mark: () => ({ count, at: target.at }),
    back(mark) {
      count = mark.count
      target.at = mark.at
    },
    get memory() {
      return target.buffer
    },
  }
}

/** All bytes of a COPY of the rows. */
export function encodeCopy<Row extends object>(columns: CopyColumns<Row>, rows: readonly Row[]): Buffer {
  const encoder = createCopyEncoder(columns)
  for (const row of rows) encoder.add(row)
  return encoder.bytes()
}

type Field<Row> = readonly [column: keyof Row, type: CopyType]

/**
 * Bytes written so far, in a buffer that grows: measuring every text first would take half as long as writing it. `view`:
 * of the same memory, because Node's Buffer takes bigints apart, which leaves garbage.
 */
type Target = { buffer: Buffer; view: DataView; at: number }

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

function encodeRow<Row>(fields: readonly Field<Row>[], row: Row, target: Target): void {
  reserve(target, 2)
  target.view.setInt16(target.at, fields.length)
  target.at += 2
  for (const [column, type] of fields) {
    const value: unknown = row[column]
    writeField(target, type, type === 'json' && value !== null ? writtenText(value as JsonText) : value)
  }
}

function reserve(target: Target, bytes: number): void {
  if (target.at + bytes <= target.buffer.length) return
  const larger = Buffer.allocUnsafe(Math.max(target.buffer.length * 2, target.at + bytes))
  target.buffer.copy(larger, 0, 0, target.at)
  target.buffer = larger
  target.view = viewOf(larger)
}

function append(target: Target, bytes: Buffer): void {
  reserve(target, bytes.length)
  target.at += bytes.copy(target.buffer, target.at)
}

/** Writes a value's length and the value. */
function writeField(target: Target, type: CopyType, value: unknown): void {
  reserve(target, 4 + greatestSizeOf(type, value))
  const { at } = target
  target.at += 4
  if (value === null) {
    target.view.setInt32(at, -1)
    return
  }
  target.at = writeValue(target, type, value)
  target.view.setInt32(at, target.at - at - 4)
}

/** A UTF-16 unit takes at most three bytes. A longer text is measured, because of the memory. */
const bytesPerUnit = 3
const maxGuessedChars = 64 * 1024

/** At least the bytes that the value takes. */
function greatestSizeOf(type: CopyType, value: unknown): number {
  if (value === null) return 0
  switch (type) {
    case 'bool':
    case 'int4':
    case 'int8':
    case 'timestamptz':
      return 8
    case 'uuid':
      return 16
    case 'bytea':
      return (value as Buffer).length
    default: {
      const text = value as string
      return 1 + (text.length > maxGuessedChars ? Buffer.byteLength(text) : bytesPerUnit * text.length)
    }
  }
}

/** Returns where the value ends. */
function writeValue({ buffer, view, at }: Target, type: CopyType, value: unknown): number {
  switch (type) {
    case 'bool':
      view.setUint8(at, Number(value))
      return at + 1
    case 'int4':
      view.setInt32(at, value as number)
      return at + 4
    case 'int8':
      view.setBigInt64(at, value as bigint)
      return at + 8
    case 'timestamptz':
      return writeMicroseconds(view, at, (value as Date).getTime() - epochMs)
    case 'uuid':
      return writeUuid(buffer, at, value as string)
    case 'bytea':
      return at + (value as Buffer).copy(buffer, at)
    case 'jsonb':
      buffer[at] = jsonbVersion
      return at + 1 + buffer.write(value as string, at + 1)
    default:
      return at + buffer.write(value as string, at)
  }
}

/** Writes milliseconds as microseconds, an int8. In two halves: a number does not hold the microseconds of 9999 years exactly. */
function writeMicroseconds(view: DataView, at: number, ms: number): number {
  const high = Math.floor(ms / 2 ** 32)
  const low = (ms - high * 2 ** 32) * 1000
  view.setInt32(at, high * 1000 + Math.floor(low / 2 ** 32))
  view.setUint32(at + 4, low % 2 ** 32)
  return at + 8
}

/** Where the groups of a UUID's digits begin and end. */
const uuidGroups = [
  [0, 8],
  [9, 13],
  [14, 18],
  [19, 23],
  [24, 36],
] as const

/** Digit by digit, because a text without the hyphens would be thrown away at once, four times a row. */
function writeUuid(target: Buffer, at: number, uuid: string): number {
  for (const [start, end] of uuidGroups)
    for (let digit = start; digit < end; digit += 2)
      target[at++] = (hexDigit(uuid.charCodeAt(digit)) << 4) | hexDigit(uuid.charCodeAt(digit + 1))
  return at
}

/** 0 to 9 are at 0x30, a to f at 0x61 and A to F at 0x41. */
function hexDigit(code: number): number {
  return code < 0x40 ? code - 0x30 : (code & 0x0f) + 9
}
