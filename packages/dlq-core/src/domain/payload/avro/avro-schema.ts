// Avro's schemas: https://avro.apache.org/docs/1.12.0/specification/#schema-declaration
// A schema may come from a stranger, so text, depth and named types are bounded.

import { maxNamedTypes, maxSchemaDepth, maxSchemaText } from '../payload-bounds.ts'
import { PayloadFault } from '../payload-fault.ts'

const primitives = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const
type Primitive = (typeof primitives)[number]

/** How a value is shown that has a logical type. `digits`: of the fraction of a second. */
export type Logical =
  | { kind: 'decimal'; scale: number }
  | { kind: 'date' }
  | { kind: 'time'; digits: 3 | 6 }
  | { kind: 'timestamp'; digits: 3 | 6 | 9; local: boolean }

export type RecordType = { kind: 'record'; name: string; fields: { name: string; type: AvroType }[] }

export type AvroType =
  | { kind: Primitive; logical: Logical | null }
  | { kind: 'fixed'; name: string; size: number; logical: Logical | null }
  | { kind: 'enum'; name: string; symbols: readonly string[] }
  | { kind: 'array'; items: AvroType }
  | { kind: 'map'; values: AvroType }
  | { kind: 'union'; branches: readonly AvroType[] }
  | RecordType

type Parsing = { names: Map<string, AvroType>; namespace: string; depth: number }

/**
 * The type that the schema declares. `references`: schemas whose named types it uses, each after those that it uses
 * itself. @throws {PayloadFault} where the schema cannot be used
 */
export function parseAvroSchema(text: string, references: readonly string[] = []): AvroType {
  const length = references.reduce((sum, reference) => sum + reference.length, text.length)
  if (length > maxSchemaText) throw new PayloadFault(`the schema is longer than ${maxSchemaText} characters`)
  const parsing: Parsing = { names: new Map(), namespace: '', depth: 0 }
  for (const reference of references) parseType(parseJson(reference), parsing)
  return parseType(parseJson(text), parsing)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The registries also keep a primitive's name without quotes.
    if (isPrimitive(text)) return text
    throw new PayloadFault('the schema is not JSON')
  }
}

function parseType(schema: unknown, outer: Parsing): AvroType {
  const parsing = { ...outer, depth: outer.depth + 1 }
  if (parsing.depth > maxSchemaDepth)
    throw new PayloadFault(`the schema is nested deeper than ${maxSchemaDepth} levels`)
  if (typeof schema === 'string') return named(schema, parsing)
  if (Array.isArray(schema)) return unionOf(schema.map((branch) => parseType(branch, parsing)))
  if (typeof schema !== 'object' || schema === null) throw new PayloadFault('the schema has a type that is no type')
  const declared = schema as Record<string, unknown>
  const { type } = declared
  switch (type) {
    case 'array':
      return { kind: 'array', items: parseType(declared.items, parsing) }
    case 'map':
      return { kind: 'map', values: parseType(declared.values, parsing) }
    case 'record':
    case 'error':
      return parseRecord(declared, parsing)
    case 'enum':
      return declare(
        { kind: 'enum', name: fullName(declared, parsing), symbols: textsOf(declared.symbols, 'symbols') },
        parsing,
      )
    case 'fixed':
      return parseFixed(declared, parsing)
  }
  const found = parseType(type, parsing)
  return 'logical' in found && found.kind !== 'fixed' && found.logical === null
    ? { ...found, logical: logicalOf(declared, found) }
    : found
}

function named(name: string, { names, namespace }: Parsing): AvroType {
  if (isPrimitive(name)) return { kind: name, logical: null }
  const found =
    (name.includes('.') || namespace === '' ? undefined : names.get(`${namespace}.${name}`)) ?? names.get(name)
  if (found === undefined) throw new PayloadFault(`the schema has no type ${name.slice(0, 200)}`)
  return found
}

function isPrimitive(name: string): name is Primitive {
  return (primitives as readonly string[]).includes(name)
}

function fullName({ name, namespace }: Record<string, unknown>, parsing: Parsing): string {
  if (typeof name !== 'string' || name === '' || isPrimitive(name))
    throw new PayloadFault('the schema has a named type without a name')
  if (name.includes('.')) return name
  const own = typeof namespace === 'string' ? namespace : parsing.namespace
  return own === '' ? name : `${own}.${name}`
}

function declare<Type extends Exclude<AvroType, { kind: Primitive | 'array' | 'map' | 'union' }>>(
  type: Type,
  { names }: Parsing,
): Type {
  if (names.has(type.name)) throw new PayloadFault(`the schema declares ${type.name} twice`)
  if (names.size >= maxNamedTypes) throw new PayloadFault(`the schema has more than ${maxNamedTypes} named types`)
  names.set(type.name, type)
  return type
}

function parseRecord(declared: Record<string, unknown>, parsing: Parsing): AvroType {
  const name = fullName(declared, parsing)
  const type = declare<RecordType>({ kind: 'record', name, fields: [] }, parsing)
  if (!Array.isArray(declared.fields)) throw new PayloadFault(`the schema's record ${name} has no fields`)
  const inside = { ...parsing, namespace: name.slice(0, Math.max(name.lastIndexOf('.'), 0)) }
  const seen = new Set<string>()
  for (const field of declared.fields as Record<string, unknown>[]) {
    if (typeof field?.name !== 'string' || seen.has(field.name))
      throw new PayloadFault(`the schema's record ${name} has a field without a name of its own`)
    seen.add(field.name)
    type.fields.push({ name: field.name, type: parseType(field.type, inside) })
  }
  return type
}

function parseFixed(declared: Record<string, unknown>, parsing: Parsing): AvroType {
  const { size } = declared
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new PayloadFault('the schema has a fixed type without a size')
  const type = { kind: 'fixed' as const, name: fullName(declared, parsing), size, logical: null }
  return declare({ ...type, logical: logicalOf(declared, type) }, parsing)
}

function textsOf(value: unknown, what: string): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw new PayloadFault(`the schema has an enum without ${what}`)
}

function unionOf(branches: readonly AvroType[]): AvroType {
  const names = branches.map(branchName)
  if (branches.some(({ kind }) => kind === 'union')) throw new PayloadFault('the schema has a union within a union')
  if (new Set(names).size < names.length) throw new PayloadFault('the schema has a union with two branches of one name')
  return { kind: 'union', branches }
}

/** What a union's branch is called in JSON. */
export function branchName(type: AvroType): string {
  return 'name' in type ? type.name : type.kind
}

const logicals: Record<string, { on: AvroType['kind']; logical: Logical }> = {
  date: { on: 'int', logical: { kind: 'date' } },
  'time-millis': { on: 'int', logical: { kind: 'time', digits: 3 } },
  'time-micros': { on: 'long', logical: { kind: 'time', digits: 6 } },
  'timestamp-millis': { on: 'long', logical: { kind: 'timestamp', digits: 3, local: false } },
  'timestamp-micros': { on: 'long', logical: { kind: 'timestamp', digits: 6, local: false } },
  'timestamp-nanos': { on: 'long', logical: { kind: 'timestamp', digits: 9, local: false } },
  'local-timestamp-millis': { on: 'long', logical: { kind: 'timestamp', digits: 3, local: true } },
  'local-timestamp-micros': { on: 'long', logical: { kind: 'timestamp', digits: 6, local: true } },
  'local-timestamp-nanos': { on: 'long', logical: { kind: 'timestamp', digits: 9, local: true } },
}

const maxScale = 1000

/** Null where there is none, or one that does not fit its type: the specification says to ignore it. */
function logicalOf(declared: Record<string, unknown>, { kind }: AvroType): Logical | null {
  const { logicalType, scale = 0, precision } = declared
  if (typeof logicalType !== 'string') return null
  if (logicalType === 'decimal') {
    const fits = (kind === 'bytes' || kind === 'fixed') && typeof precision === 'number' && precision > 0
    const isScale = typeof scale === 'number' && Number.isInteger(scale) && scale >= 0 && scale <= maxScale
    return fits && isScale && scale <= precision ? { kind: 'decimal', scale } : null
  }
  if (!Object.hasOwn(logicals, logicalType)) return null
  const { on, logical } = logicals[logicalType]!
  return on === kind ? logical : null
}
