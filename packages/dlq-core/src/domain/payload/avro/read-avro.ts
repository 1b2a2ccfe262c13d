// Avro's binary encoding as JSON text: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
// Each schema becomes a function once. Text and not values, because a JavaScript number would round a long.

import { doubleText, floatText } from '../binary/float-text.ts'
import { JsonOutput } from '../binary/json-output.ts'
import { PayloadFault } from '../payload-fault.ts'
import { AvroInput } from './avro-input.ts'
import { decimalText, maxDecimalBytes, timeText } from './avro-logical.ts'
import { type AvroType, branchName, type Logical, type RecordType } from './avro-schema.ts'

/** The JSON text of the value that begins at `at`. @throws {PayloadFault} unless it uses every byte up to the end */
export type AvroReader = (bytes: Buffer, at?: number) => string

type Read = (input: AvroInput, output: JsonOutput) => void

/** Values are read one after the other. */
const output = new JsonOutput()

export function compileAvroReader(type: AvroType): AvroReader {
  const read = compile(type, new Map())
  return (bytes, at = 0) => {
    const input = new AvroInput(bytes, at)
    output.begin()
    read(input, output)
    input.end()
    return output.end()
  }
}

const comma = 0x2c
const colon = 0x3a

function compile(type: AvroType, records: Map<RecordType, { read: Read }>): Read {
  switch (type.kind) {
    case 'null':
      return (_, output) => output.text('null')
    case 'boolean':
      return (input, output) => {
        const byte = input.byte()
        if (byte > 1) throw new PayloadFault('it has a boolean that is neither 0 nor 1')
        output.text(byte === 1 ? 'true' : 'false')
      }
    case 'int':
    case 'long':
      return compileInteger(type.kind, type.logical)
    case 'float':
      return (input, output) => output.text(floatText(input.bytes.readFloatLE(input.take(4))))
    case 'double':
      return (input, output) => output.text(doubleText(input.bytes.readDoubleLE(input.take(8))))
    case 'string':
      return readString
    case 'bytes':
      return compileBytes((input) => input.size(), type.logical)
    case 'fixed':
      return compileBytes(() => type.size, type.logical)
    case 'enum': {
      const symbols = type.symbols.map((symbol) => JSON.stringify(symbol))
      return (input, output) => {
        const symbol = symbols[input.size()]
        if (symbol === undefined) throw new PayloadFault(`it has a symbol that ${type.name} does not know`)
        input.spend(0, symbol.length)
        output.text(symbol)
      }
    }
    case 'array':
      return compileBlocks('[', compile(type.items, records), ']')
    case 'map': {
      const readValue = compile(type.values, records)
      const readEntry: Read = (input, output) => {
        readString(input, output)
        output.character(colon)
        readValue(input, output)
      }
      return compileBlocks('{', readEntry, '}')
    }
    case 'union':
      return compileUnion(type.branches, records)
    case 'record':
      return compileRecord(type, records)
  }
}

function compileInteger(kind: 'int' | 'long', logical: Logical | null): Read {
  const read = kind === 'int' ? (input: AvroInput) => input.int() : (input: AvroInput) => input.long()
  if (logical === null || logical.kind === 'decimal') return (input, output) => output.text(String(read(input)))
  return (input, output) => {
    const value = read(input)
    const text = timeText(value, logical)
    output.text(text === null ? String(value) : `"${text}"`)
  }
}

function readString(input: AvroInput, output: JsonOutput): void {
  const length = input.size()
  const start = input.take(length)
  // Before it is written, so that no more than the bound ever is.
  input.spend(0, length + 2)
  const written = output.string(input.bytes, start, start + length)
  // What had to be escaped is longer.
  if (written > length + 2) input.spend(0, written - length - 2)
}

function compileBytes(sizeOf: (input: AvroInput) => number, logical: Logical | null): Read {
  return (input, output) => {
    const size = sizeOf(input)
    const start = input.take(size)
    if (logical?.kind === 'decimal' && size > maxDecimalBytes)
      throw new PayloadFault(`it has a decimal of more than ${maxDecimalBytes} bytes`)
    const text =
      logical?.kind === 'decimal'
        ? decimalText(input.bytes.subarray(start, start + size), logical.scale)
        : input.bytes.toString('base64', start, start + size)
    input.spend(0, text.length)
    output.text(`"${text}"`)
  }
}

/** Items in blocks; the last block has none. A negative number of items is followed by the size of the block. */
function compileBlocks(open: string, readItem: Read, close: string): Read {
  return (input, output) => {
    input.enter()
    output.text(open)
    let isFirst = true
    while (true) {
      const count = input.long()
      if (count === 0) break
      if (typeof count === 'bigint') throw new PayloadFault('it has a block of too many items')
      const size = count < 0 ? input.size() : null
      const end = size === null ? null : input.at + size
      const items = Math.abs(count)
      input.spend(items, items)
      for (let item = 0; item < items; item += 1) {
        if (!isFirst) output.character(comma)
        isFirst = false
        readItem(input, output)
      }
      if (end !== null && input.at !== end) throw new PayloadFault('it has a block of another size than it says')
    }
    input.leave()
    output.text(close)
  }
}

function compileUnion(branches: readonly AvroType[], records: Map<RecordType, { read: Read }>): Read {
  const isBare = isNullable(branches)
  const reads = branches.map((branch): Read => {
    const read = compile(branch, records)
    if (isBare || branch.kind === 'null') return read
    const open = `{${JSON.stringify(branchName(branch))}:`
    return (input, output) => {
      input.enter()
      input.spend(1, open.length + 1)
      output.text(open)
      read(input, output)
      output.text('}')
      input.leave()
    }
  })
  return (input, output) => {
    const read = reads[input.size()]
    if (read === undefined) throw new PayloadFault('it has a branch that its union does not know')
    read(input, output)
  }
}

/** A union of null and one other type: its values are shown without the branch's name. */
export function isNullable(branches: readonly AvroType[]): boolean {
  return branches.length === 2 && branches.some(({ kind }) => kind === 'null')
}

function compileRecord(type: RecordType, records: Map<RecordType, { read: Read }>): Read {
  const compiled = records.get(type)
  // It may hold itself, and then is not compiled yet.
  if (compiled !== undefined) return (input, output) => compiled.read(input, output)
  const self: { read: Read } = { read: () => {} }
  records.set(type, self)
  const reads = type.fields.map((field) => compile(field.type, records))
  const names = type.fields.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const length = names.reduce((sum, name) => sum + name.length, 2)
  const count = reads.length
  self.read = (input, output) => {
    input.enter()
    input.spend(count + 1, length)
    if (count === 0) output.text('{')
    for (let at = 0; at < count; at += 1) {
      output.text(names[at]!)
      reads[at]!(input, output)
    }
    input.leave()
    output.text('}')
  }
  return self.read
}
