// JSON as read-avro.ts writes it, back as Avro's binary encoding. Strict: a field that the schema does not know, or one
// that is missing, is a fault that names its path.

import { digitsOf, parseExact } from '../../record/exact-json.ts'
import { pointerStep } from '../../record/json-patch.ts'
import { notFinite } from '../binary/float-text.ts'
import { PayloadFault, refuse } from '../payload-fault.ts'
import { decimalBytes, timeValue } from './avro-logical.ts'
import { type AvroType, branchName, type Logical, type RecordType } from './avro-schema.ts'
import { isNullable } from './read-avro.ts'

/** @throws {PayloadFault} with the path of the value that the schema does not allow */
export type AvroWriter = (json: string) => Buffer

/** The value at `path`, a JSON Pointer, onto the end of the chunks. */
type Write = (value: unknown, path: string, chunks: Buffer[]) => void

export function compileAvroWriter(type: AvroType): AvroWriter {
  const write = compile(type, new Map())
  return (json) => {
    const chunks: Buffer[] = []
    write(parseExact(json), '', chunks)
    return Buffer.concat(chunks)
  }
}

function compile(type: AvroType, records: Map<RecordType, { write: Write }>): Write {
  switch (type.kind) {
    case 'null':
      return (value, path) => {
        if (value !== null) refuse(path, 'null')
      }
    case 'boolean':
      return (value, path, chunks) => {
        if (typeof value !== 'boolean') refuse(path, 'true or false')
        chunks.push(Buffer.from([Number(value)]))
      }
    case 'int':
      return integerWriter(type.logical, 31n, 'an integer of 32 bits')
    case 'long':
      return integerWriter(type.logical, 63n, 'an integer of 64 bits')
    case 'float':
    case 'double':
      return floatWriter(type.kind)
    case 'string':
      return (value, path, chunks) => pushText(value, path, chunks)
    case 'bytes':
      return (value, path, chunks) => {
        const bytes = bytesOf(value, path, { logical: type.logical, size: null })
        chunks.push(long(BigInt(bytes.length)), bytes)
      }
    case 'fixed':
      return (value, path, chunks) => chunks.push(bytesOf(value, path, type))
    case 'enum':
      return (value, path, chunks) => {
        const index = typeof value === 'string' ? type.symbols.indexOf(value) : -1
        if (index < 0) refuse(path, `one of ${type.symbols.slice(0, 20).join(', ')}`)
        chunks.push(long(BigInt(index)))
      }
    case 'array':
      return arrayWriter(compile(type.items, records))
    case 'map':
      return mapWriter(compile(type.values, records))
    case 'union':
      return unionWriter(type.branches, records)
    case 'record':
      return recordWriter(type, records)
  }
}

/** Zigzag and seven bits a byte. */
function long(value: bigint): Buffer {
  let zigzag = value < 0n ? -value * 2n - 1n : value * 2n
  const bytes: number[] = []
  while (zigzag >= 0x80n) {
    bytes.push(Number(zigzag & 0x7fn) | 0x80)
    zigzag >>= 7n
  }
  bytes.push(Number(zigzag))
  return Buffer.from(bytes)
}

function integerWriter(logical: Logical | null, bits: bigint, wanted: string): Write {
  const timed = logical?.kind === 'decimal' ? null : logical
  return (value, path, chunks) => {
    const digits = digitsOf(value)
    const integer =
      digits !== null && /^-?\d{1,20}$/.test(digits)
        ? BigInt(digits)
        : typeof value === 'string' && timed !== null
          ? timeValue(value, timed)
          : null
    if (integer === null || integer < -(1n << bits) || integer >= 1n << bits)
      refuse(path, timed === null ? wanted : `${examples[timed.kind]}, or ${wanted}`)
    chunks.push(long(integer))
  }
}

const examples = {
  date: 'a date such as "2026-02-20"',
  time: 'a time such as "10:30:00.000"',
  timestamp: 'a time such as "2026-02-20T10:30:00.000Z" (without Z where the type is local)',
}

function floatWriter(kind: 'float' | 'double'): Write {
  return (value, path, chunks) => {
    const digits = digitsOf(value)
    const number = digits === null ? notFinite.get(value) : finite(Number(digits), kind)
    if (number === undefined) refuse(path, `a ${kind}, or "NaN", "Infinity" or "-Infinity"`)
    const bytes = Buffer.alloc(kind === 'float' ? 4 : 8)
    if (kind === 'float') bytes.writeFloatLE(number)
    else bytes.writeDoubleLE(number)
    chunks.push(bytes)
  }
}

function finite(number: number, kind: 'float' | 'double'): number | undefined {
  return Number.isFinite(kind === 'float' ? Math.fround(number) : number) ? number : undefined
}

function pushText(value: unknown, path: string, chunks: Buffer[]): void {
  if (typeof value !== 'string' || !value.isWellFormed()) refuse(path, 'text')
  const bytes = Buffer.from(value)
  chunks.push(long(BigInt(bytes.length)), bytes)
}

function bytesOf(
  value: unknown,
  path: string,
  { logical, size }: { logical: Logical | null; size: number | null },
): Buffer {
  const wantedSize = size === null ? '' : ` of ${size} bytes`
  if (logical?.kind === 'decimal') {
    const text = typeof value === 'string' ? value : digitsOf(value)
    const bytes = text === null ? null : decimalBytes(text, logical.scale, size)
    return bytes ?? refuse(path, `a decimal such as "40.58", with at most ${logical.scale} digits behind the point`)
  }
  if (typeof value !== 'string') return refuse(path, `base64${wantedSize}`)
  const bytes = Buffer.from(value, 'base64')
  if (bytes.toString('base64') !== value || (size !== null && bytes.length !== size))
    return refuse(path, `base64${wantedSize}`)
  return bytes
}

function arrayWriter(writeItem: Write): Write {
  return (value, path, chunks) => {
    if (!Array.isArray(value)) refuse(path, 'a list')
    if (value.length > 0) chunks.push(long(BigInt(value.length)))
    for (const [index, item] of value.entries()) writeItem(item, `${path}/${index}`, chunks)
    chunks.push(long(0n))
  }
}

function mapWriter(writeValue: Write): Write {
  return (value, path, chunks) => {
    const entries = Object.entries(objectAt(value, path))
    if (entries.length > 0) chunks.push(long(BigInt(entries.length)))
    for (const [key, item] of entries) {
      pushText(key, path, chunks)
      writeValue(item, below(path, key), chunks)
    }
    chunks.push(long(0n))
  }
}

function objectAt(value: unknown, path: string): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === null
  return isObject ? (value as Record<string, unknown>) : refuse(path, 'an object')
}

function below(path: string, key: string): string {
  return `${path}/${pointerStep(key)}`
}

function unionWriter(branches: readonly AvroType[], records: Map<RecordType, { write: Write }>): Write {
  const writes = branches.map((branch) => compile(branch, records))
  const nullAt = branches.findIndex(({ kind }) => kind === 'null')
  if (isNullable(branches)) {
    return (value, path, chunks) => {
      const at = value === null ? nullAt : 1 - nullAt
      chunks.push(long(BigInt(at)))
      writes[at]!(value, path, chunks)
    }
  }
  const names = branches.map(branchName)
  const wanted = `one of ${names.map((name) => (name === 'null' ? name : `{${JSON.stringify(name)}: …}`)).join(', ')}`
  return (value, path, chunks) => {
    if (value === null && nullAt >= 0) {
      chunks.push(long(BigInt(nullAt)))
      return
    }
    const entries = Object.entries(objectAt(value, path))
    const at = entries.length === 1 ? names.indexOf(entries[0]![0]) : -1
    if (at < 0 || at === nullAt) refuse(path, wanted)
    chunks.push(long(BigInt(at)))
    writes[at]!(entries[0]![1], below(path, names[at]!), chunks)
  }
}

function recordWriter(type: RecordType, records: Map<RecordType, { write: Write }>): Write {
  const compiled = records.get(type)
  if (compiled !== undefined) return (...args) => compiled.write(...args)
  const self: { write: Write } = { write: () => {} }
  records.set(type, self)
  const fields = type.fields.map(({ name, type }) => ({ name, write: compile(type, records) }))
  const known = new Set(fields.map(({ name }) => name))
  self.write = (value, path, chunks) => {
    const object = objectAt(value, path)
    const unknown = Object.keys(object).find((name) => !known.has(name))
    if (unknown !== undefined) throw new PayloadFault(`${below(path, unknown)} is no field of ${type.name}`)
    for (const { name, write } of fields) {
      if (!Object.hasOwn(object, name)) throw new PayloadFault(`${below(path, name)} of ${type.name} is missing`)
      write(object[name], below(path, name), chunks)
    }
  }
  return self.write
}
