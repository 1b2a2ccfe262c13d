// Rows in PostgreSQL's binary formats, for the few statements that read many bytes: a bytea column comes as it is stored,
// without the text that PostgreSQL would have to make of it and we would have to decode.
// Formats: https://www.postgresql.org/docs/17/protocol-message-formats.html (DataRow), and the send functions of the types.

import type { Fragment } from '../sql.ts'

/** Runs the statement, with each row made by `read`, which takes the columns in their order. */
export async function binaryRows<T>(query: Fragment, read: (row: BinaryRow) => T): Promise<T[]> {
  const row = new BinaryRow()
  const patched = query as unknown as { binary(read: (message: Buffer) => T): PromiseLike<T[]> }
  return patched.binary((message) => read(row.of(message)))
}

/** "D", the message's length, and the number of columns. */
const headerBytes = 7

/** PostgreSQL counts microseconds from the year 2000. */
const epochMs = Date.UTC(2000)
const firstMs = Date.parse('0001-01-01T00:00:00.000Z')
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/** The columns of one row, each read once and in order. Each method gives null for SQL's null. */
export class BinaryRow {
  #message: Buffer = Buffer.alloc(0)
  #at = 0
  /** The column that is read next. */
  #column = 0
  /** Column → what `repeated` gave last. */
  readonly #last: { text: string; bytes: Buffer }[] = []

  of(message: Buffer): this {
    this.#message = message
    this.#at = headerBytes
    this.#column = 0
    return this
  }

  /** Where the next value begins, which `#at` is then behind; null for SQL's null. */
  #next(): number | null {
    const length = this.#message.readInt32BE(this.#at)
    const start = this.#at + 4
    this.#at = start + Math.max(0, length)
    this.#column += 1
    return length === -1 ? null : start
  }

  /** Of the types text, varchar and json. */
  text(): string | null {
    const start = this.#next()
    return start === null ? null : this.#message.toString('utf8', start, this.#at)
  }

  /** As `text`, for a column in which rows that follow each other are often equal: they share one string. */
  repeated(): string | null {
    const column = this.#column
    const start = this.#next()
    if (start === null) return null
    const last = this.#last[column]
    if (last !== undefined && this.#isNow(last.bytes, start)) return last.text
    const bytes = this.#message.subarray(start, this.#at)
    const text = bytes.toString()
    this.#last[column] = { text, bytes }
    return text
  }

  /** By hand, because such texts are short: a call of `Buffer.compare` takes longer. */
  #isNow(bytes: Buffer, start: number): boolean {
    if (bytes.length !== this.#at - start) return false
    for (let at = 0; at < bytes.length; at += 1) if (bytes[at] !== this.#message[start + at]) return false
    return true
  }

  /** A part of the chunk that came from the socket, which stays in memory as long as any part of it. */
  bytes(): Buffer | null {
    const start = this.#next()
    return start === null ? null : this.#message.subarray(start, this.#at)
  }

  /** Of the type int. */
  integer(): number | null {
    const start = this.#next()
    return start === null ? null : this.#message.readInt32BE(start)
  }

  bigint(): bigint | null {
    const start = this.#next()
    return start === null ? null : this.#message.readBigInt64BE(start)
  }

  /** Of the type float8. */
  number(): number | null {
    const start = this.#next()
    return start === null ? null : this.#message.readDoubleBE(start)
  }

  boolean(): boolean | null {
    const start = this.#next()
    return start === null ? null : this.#message[start] === 1
  }

  /** Of the type timestamptz. Times that a Date cannot show, as "infinity", are the first or last that others show. */
  time(): Date | null {
    const start = this.#next()
    if (start === null) return null
    const high = this.#message.readInt32BE(start)
    const isNear = high > -nearHigh && high < nearHigh
    const ms = isNear
      ? Math.floor((high * 2 ** 32 + this.#message.readUInt32BE(start + 4)) / 1000)
      : Number(this.#message.readBigInt64BE(start) / 1000n)
    if (epochMs + ms < firstMs) return new Date(firstMs)
    const time = new Date(epochMs + ms)
    return Number.isNaN(time.getTime()) ? new Date(lastMs) : time
  }
}

/** Below it, a number holds microseconds exactly: 142 years around the year 2000. */
const nearHigh = 2 ** 20
