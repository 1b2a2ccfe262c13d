// Avro's binary encoding as JSON text: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
// Each schema becomes a function once. Text and not values, because a JavaScript number would round a long.

import { doubleText, floatText } from '../binary/float-text.ts'
import { PayloadFault } from '../payload-fault.ts'
import { AvroInput } from './avro-input.ts'
import { decimalText, maxDecimalBytes, timeText } from './avro-logical.ts'
import { type AvroType, branchName, type Logical, type RecordType } from './avro-schema.ts'

/** The JSON text of the value that begins at `at`. @throws {PayloadFault} unless it uses every byte up to the end */
export type AvroReader = (bytes: Buffer, at?: number) => string

type Read = (input: AvroInput) => string

export function compileAvroReader(type: AvroType): AvroReader {
  const read = compile(type, new Map())
  return (bytes, at = 0) => {
    const input = new AvroInput(bytes, at)
    const text = read(input)
    input.end()
    return text
  }
}

function compile(type: AvroType, records: Map<RecordType, { read: Read }>): Read {
  switch (type.kind) {
    case 'null':
      return () => 'null'
    case 'boolean':
      return (input) => {
        const byte = input.byte()
        if (byte > 1) throw new PayloadFault('it has a boolean that is neither 0 nor 1')
        return byte === 1 ? 'true' : 'false'
      }
    case 'int':
    case 'long':
      return compileInteger(type.kind, type.logical)
    case 'float':
      return (input) => floatText(input.bytes.readFloatLE(input.take(4)))
    case 'double':
      return (input) => doubleText(input.bytes.readDoubleLE(input.take(8)))
    case 'string':
      return readString
    case 'bytes':
      return compileBytes((input) => input.size(), type.logical)
    case 'fixed':
      return compileBytes(() => type.size, type.logical)
    case 'enum': {
      const symbols = type.symbols.map((symbol) => JSON.stringify(symbol))
      return (input) => {
        const symbol = symbols[input.size()]
        if (symbol === undefined) throw new PayloadFault(`it has a symbol that ${type.name} does not know`)
        input.spend(0, symbol.length)
        return symbol
      }
    }
    case 'array':
      return compileBlocks('[', compile(type.items, records), ']')
    case 'map': {
      const readValue = compile(type.values, records)
      return compileBlocks('{', (input) => `${readString(input)}:${readValue(input)}`, '}')
    }
    case 'union':
      return compileUnion(type.branches, records)
    case 'record':
      return compileRecord(type, records)
  }
}

function compileInteger(kind: 'int' | 'long', logical: Logical | null): Read {
  const read = kind === 'int' ? (input: AvroInput) => input.int() : (input: AvroInput) => input.long()
  if (logical === null || logical.kind === 'decimal') return (input) => String(read(input))
  return (input) => {
    const value = read(input)
    const text = timeText(value, logical)
    return text === null ? String(value) : `"${text}"`
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what JSON escapes
const escaped = /["\\\u0000-\u001f]/

function readString(input: AvroInput): string {
  const length = input.size()
  const start = input.take(length)
  const text = input.bytes.toString('utf8', start, start + length)
  const quoted = escaped.test(text) ? JSON.stringify(text) : `"${text}"`
  input.spend(0, quoted.length)
  return quoted
}

function compileBytes(sizeOf: (input: AvroInput) => number, logical: Logical | null): Read {
  return (input) => {
    const size = sizeOf(input)
    const start = input.take(size)
    if (logical?.kind === 'decimal' && size > maxDecimalBytes)
      throw new PayloadFault(`it has a decimal of more than ${maxDecimalBytes} bytes`)
    const text =
      logical?.kind === 'decimal'
        ? decimalText(input.bytes.subarray(start, start + size), logical.scale)
        : input.bytes.toString('base64', start, start + size)
    input.spend(0, text.length)
    return `"${text}"`
  }
}

/** Items in blocks; the last block has none. A negative number of items is followed by the size of the block. */
function compileBlocks(open: string, readItem: Read, close: string): Read {
  return (input) => {
    input.enter()
    let text = open
    while (true) {
      const count = input.long()
      if (count === 0) break
      if (typeof count === 'bigint') throw new PayloadFault('it has a block of too many items')
      const size = count < 0 ? input.size() : null
      const end = size === null ? null : input.at + size
      const items = Math.abs(count)
      input.spend(items, items)
      for (let item = 0; item < items; item += 1) text += (text.length > 1 ? ',' : '') + readItem(input)
      if (end !== null && input.at !== end) throw new PayloadFault('it has a block of another size than it says')
    }
    input.leave()
    return text + close
  }
}

function compileUnion(branches: readonly AvroType[], records: Map<RecordType, { read: Read }>): Read {
  const isBare = isNullable(branches)
  const reads = branches.map((branch): Read => {
    const read = compile(branch, records)
    if (isBare || branch.kind === 'null') return read
    const open = `{${JSON.stringify(branchName(branch))}:`
    return (input) => {
      input.enter()
      input.spend(1, open.length + 1)
      const text = `${open}${read(input)}}`
      input.leave()
      return text
    }
  })
  return (input) => {
    const read = reads[input.size()]
    if (read === undefined) throw new PayloadFault('it has a branch that its union does not know')
    return read(input)
  }
}

/** A union of null and one other type: its values are shown without the branch's name. */
export function isNullable(branches: readonly AvroType[]): boolean {
  return branches.length === 2 && branches.some(({ kind }) => kind === 'null')
}

function compileRecord(type: RecordType, records: Map<RecordType, { read: Read }>): Read {
  const compiled = records.get(type)
  // It may hold itself, and then is not compiled yet.
  if (compiled !== undefined) return (input) => compiled.read(input)
  const self: { read: Read } = { read: () => '' }
  records.set(type, self)
  const reads = type.fields.map((field) => compile(field.type, records))
  const names = type.fields.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const length = names.reduce((sum, name) => sum + name.length, 2)
  const count = reads.length
  self.read = (input) => {
    input.enter()
    input.spend(count + 1, length)
    let text = count === 0 ? '{' : ''
    for (let at = 0; at < count; at += 1) text += names[at]! + reads[at]!(input)
    input.leave()
    return `${text}}`
  }
  return self.read
}
