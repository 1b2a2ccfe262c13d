// A .proto text as the descriptor that protoc would make of it (https://protobuf.dev/reference/protobuf/proto2-spec/, and
// proto3-spec), as far as the bytes and their JSON depend on it: of options only `packed` and `json_name`.
// Registries that give no descriptors give this text. Editions are refused: there, most depends on options.

import { create } from '@bufbuild/protobuf'
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { maxNamedTypes, maxSchemaDepth, maxSchemaText } from '../payload-bounds.ts'
import { PayloadFault } from '../payload-fault.ts'
import { linkProto } from './link-proto.ts'
import {
  maxName,
  type ProtoEnum,
  type ProtoField,
  type ProtoFile,
  type ProtoMessage,
  unknownType,
} from './proto-file.ts'
import { type ProtoTokens, readTokens } from './proto-tokens.ts'

type Scope = Pick<ProtoMessage, 'nestedType' | 'enumType' | 'extension'>
type Reading = { tokens: ProtoTokens; isProto3: boolean; types: number; fields: number }

const fieldLabels = { optional: 1, required: 2, repeated: 3 } as const
const groupType = 10
const scalarTypes = new Map(
  Object.entries({
    ...{ double: 1, float: 2, int64: 3, uint64: 4, int32: 5, fixed64: 6, fixed32: 7, bool: 8, string: 9 },
    ...{ bytes: 12, uint32: 13, sfixed32: 15, sfixed64: 16, sint32: 17, sint64: 18 },
  }),
)

/**
 * `name`: under which others import it. `imports`: the descriptors of what it imports, and of what those do. @throws {PayloadFault}
 */
export function parseProto(
  text: string,
  { name, imports }: { name: string; imports: readonly FileDescriptorProto[] },
): FileDescriptorProto {
  if (text.length > maxSchemaText) throw new PayloadFault(`the schema is longer than ${maxSchemaText} characters`)
  const file = parseFile(text, name)
  linkProto(file, imports)
  return create(FileDescriptorProtoSchema, file)
}

/** The names of the files that the text imports. @throws {PayloadFault} */
export function importsOf(text: string): string[] {
  return parseFile(text, '').dependency
}

function parseFile(text: string, name: string): ProtoFile {
  const tokens = readTokens(text)
  const reading: Reading = { tokens, isProto3: false, types: 0, fields: 0 }
  const file: ProtoFile = {
    ...{ name, package: '', syntax: 'proto2', dependency: [], publicDependency: [] },
    ...{ messageType: [], enumType: [], extension: [] },
  }
  const scope: Scope = { nestedType: file.messageType, enumType: file.enumType, extension: file.extension }
  while (tokens.peek().kind !== 'end') {
    if (tokens.takes(';')) continue
    if (tokens.takes('edition')) throw tokens.fault('an edition, which is read from descriptors only,')
    if (tokens.takes('syntax')) {
      tokens.expect('=')
      file.syntax = textOf(tokens)
      if (file.syntax !== 'proto2' && file.syntax !== 'proto3') throw tokens.fault('a syntax that is not known')
      reading.isProto3 = file.syntax === 'proto3'
      tokens.expect(';')
    } else if (tokens.takes('import')) {
      const isPublic = tokens.takes('public')
      if (!isPublic) tokens.takes('weak')
      if (isPublic) file.publicDependency.push(file.dependency.length)
      file.dependency.push(textOf(tokens))
      tokens.expect(';')
    } else if (tokens.takes('package')) {
      file.package = typeNameOf(tokens)
      tokens.expect(';')
    } else if (!readDeclaration(reading, scope, 1)) throw unexpected(tokens)
  }
  return file
}

/** What may stand in a file and in a message. False where the next word begins something else. */
function readDeclaration(reading: Reading, scope: Scope, depth: number): boolean {
  const { tokens } = reading
  if (tokens.takes('message')) scope.nestedType.push(readMessage(reading, nameOf(tokens), depth))
  else if (tokens.takes('enum')) scope.enumType.push(readEnum(reading))
  else if (tokens.takes('extend')) readExtend(reading, scope, depth)
  else if (tokens.takes('option') || tokens.takes('service')) skip(tokens)
  else return false
  return true
}

function countType(reading: Reading): void {
  reading.types += 1
  if (reading.types > maxNamedTypes) throw new PayloadFault(`the schema has more than ${maxNamedTypes} named types`)
}

function readMessage(reading: Reading, name: string, depth: number): ProtoMessage {
  const { tokens } = reading
  countType(reading)
  if (depth > maxSchemaDepth) throw new PayloadFault(`the schema is nested deeper than ${maxSchemaDepth} levels`)
  const message: ProtoMessage = {
    ...{ name, field: [], nestedType: [], enumType: [], extension: [], oneofDecl: [] },
  }
  tokens.expect('{')
  while (!tokens.takes('}')) {
    if (tokens.takes(';')) continue
    // A field's type may have the name of a statement, behind a label only.
    if (readDeclaration(reading, message, depth + 1)) continue
    if (tokens.takes('reserved') || tokens.takes('extensions')) skip(tokens)
    else if (tokens.takes('oneof')) readOneof(reading, message, depth)
    else message.field.push(readField(reading, message, depth))
  }
  const numbers = new Set(message.field.map((field) => field.number))
  if (numbers.size < message.field.length) throw tokens.fault(`two fields of one number in ${name}, which ends`)
  return message
}

function readOneof(reading: Reading, message: ProtoMessage, depth: number): void {
  const { tokens } = reading
  const oneofIndex = message.oneofDecl.push({ name: nameOf(tokens) }) - 1
  tokens.expect('{')
  while (!tokens.takes('}')) {
    if (tokens.takes(';')) continue
    if (tokens.takes('option')) skip(tokens)
    else message.field.push({ ...readField(reading, message, depth), oneofIndex })
  }
}

function readExtend(reading: Reading, scope: Scope, depth: number): void {
  const { tokens } = reading
  const extendee = typeNameOf(tokens)
  tokens.expect('{')
  while (!tokens.takes('}'))
    if (!tokens.takes(';')) scope.extension.push({ ...readField(reading, scope, depth), extendee })
}

function readField(reading: Reading, scope: Scope, depth: number): ProtoField {
  const { tokens, isProto3 } = reading
  const word = (['optional', 'repeated', 'required'] as const).find((word) => tokens.takes(word))
  const label = fieldLabels[word ?? 'optional']
  if (tokens.takes('group')) return readGroup(reading, scope, { label, depth })
  const type = typeNameOf(tokens)
  if (type === 'map' && tokens.takes('<')) return readMap(reading, scope)
  const name = nameOf(tokens)
  const field: ProtoField = { ...numbered(reading, name), label, ...typed(type) }
  return isProto3 && word === 'optional' ? { ...field, proto3Optional: true } : field
}

function typed(type: string): Pick<ProtoField, 'type' | 'typeName'> {
  const scalar = scalarTypes.get(type)
  return scalar === undefined ? { type: unknownType, typeName: type } : { type: scalar }
}

function readGroup(reading: Reading, scope: Scope, { label, depth }: { label: number; depth: number }): ProtoField {
  const typeName = nameOf(reading.tokens)
  const field = numbered(reading, typeName.toLowerCase(), false)
  scope.nestedType.push(readMessage(reading, typeName, depth + 1))
  return { ...field, label, type: groupType, typeName }
}

/** `map<K, V> items` is `repeated ItemsEntry items` on the wire. */
function readMap(reading: Reading, scope: Scope): ProtoField {
  const { tokens } = reading
  const key = typed(typeNameOf(tokens))
  tokens.expect(',')
  const value = typed(typeNameOf(tokens))
  tokens.expect('>')
  const name = nameOf(tokens)
  if (key.type === unknownType) throw tokens.fault('a map whose keys are no scalars')
  countType(reading)
  const entry = `${jsonNameOf(`_${name}`)}Entry`
  const optional = { label: fieldLabels.optional }
  scope.nestedType.push({
    ...{ name: entry, nestedType: [], enumType: [], extension: [], oneofDecl: [], options: { mapEntry: true } },
    field: [
      { name: 'key', number: 1, jsonName: 'key', ...optional, ...key },
      { name: 'value', number: 2, jsonName: 'value', ...optional, ...value },
    ],
  })
  return { ...numbered(reading, name), label: fieldLabels.repeated, type: unknownType, typeName: entry }
}

const maxNumber = 536_870_911
/** Each holds the whole name of its type. */
const maxFields = 5000

/** What stands behind a field's name: its number and options. */
function numbered(
  reading: Reading,
  name: string,
  endsHere = true,
): Pick<ProtoField, 'name' | 'number' | 'jsonName' | 'options'> {
  const { tokens } = reading
  reading.fields += 1
  if (reading.fields > maxFields) throw new PayloadFault(`the schema has more than ${maxFields} fields`)
  tokens.expect('=')
  const number = integerOf(tokens)
  if (!(number >= 1 && number <= maxNumber)) throw tokens.fault('a field with a number that is none')
  const { packed, jsonName = jsonNameOf(name) } = readOptions(tokens)
  if (endsHere) tokens.expect(';')
  return { name, number, jsonName, ...(packed !== undefined && { options: { packed } }) }
}

function readOptions(tokens: ProtoTokens): { packed?: boolean; jsonName?: string } {
  const options: { packed?: boolean; jsonName?: string } = {}
  if (!tokens.takes('[')) return options
  while (true) {
    if (tokens.takes('packed')) {
      tokens.expect('=')
      options.packed = tokens.takes('true')
      if (!options.packed) tokens.expect('false')
    } else if (tokens.takes('json_name')) {
      tokens.expect('=')
      options.jsonName = textOf(tokens)
    }
    if (skipUntil(tokens, [',', ']']) === ']') return options
  }
}

function readEnum(reading: Reading): ProtoEnum {
  const { tokens } = reading
  countType(reading)
  const found: ProtoEnum = { name: nameOf(tokens), value: [] }
  tokens.expect('{')
  while (!tokens.takes('}')) {
    if (tokens.takes(';')) continue
    if (tokens.takes('option') || tokens.takes('reserved')) {
      skip(tokens)
      continue
    }
    const name = nameOf(tokens)
    tokens.expect('=')
    found.value.push({ name, number: tokens.takes('-') ? -integerOf(tokens) : integerOf(tokens) })
    readOptions(tokens)
    tokens.expect(';')
  }
  if (found.value.length === 0) throw tokens.fault(`no value of ${found.name}, which ends`)
  return found
}

/** To the end of a statement or of its block. */
function skip(tokens: ProtoTokens): void {
  let depth = 0
  while (true) {
    const { kind, text } = tokens.next()
    if (kind === 'end') throw unexpected(tokens)
    if (kind !== 'sign') continue
    if (text === '{') depth += 1
    if (text === '}') depth -= 1
    // `option a = { … };` ends by its semicolon, which may stand alone as well.
    if (depth === 0 && (text === ';' || text === '}')) return
  }
}

/** To one of these signs outside of brackets; returns it. */
function skipUntil(tokens: ProtoTokens, signs: readonly string[]): string {
  let depth = 0
  while (true) {
    const { kind, text } = tokens.next()
    if (kind === 'end') throw unexpected(tokens)
    if (kind !== 'sign') continue
    if (depth === 0 && signs.includes(text)) return text
    if (text === '{' || text === '[') depth += 1
    if (text === '}' || text === ']') depth -= 1
  }
}

function nameOf(tokens: ProtoTokens): string {
  const { kind, text } = tokens.peek()
  if (kind !== 'word') throw unexpected(tokens)
  if (text.length > maxName) throw tokens.fault(`a name of more than ${maxName} characters`)
  tokens.next()
  return text
}

/** `a.b.C` or `.a.b.C`. */
function typeNameOf(tokens: ProtoTokens): string {
  let name = tokens.takes('.') ? '.' : ''
  name += nameOf(tokens)
  while (tokens.takes('.')) {
    name += `.${nameOf(tokens)}`
    if (name.length > maxName) throw tokens.fault(`a name of more than ${maxName} characters`)
  }
  return name
}

function textOf(tokens: ProtoTokens): string {
  if (tokens.peek().kind !== 'text') throw unexpected(tokens)
  let text = tokens.next().text
  while (tokens.peek().kind === 'text') text += tokens.next().text
  return text
}

function integerOf(tokens: ProtoTokens): number {
  const { kind, text } = tokens.peek()
  const value = /^0[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number(text)
  if (kind !== 'number' || !Number.isSafeInteger(value) || value > 2 ** 31) throw unexpected(tokens)
  tokens.next()
  return value
}

function unexpected(tokens: ProtoTokens): PayloadFault {
  return tokens.fault(`${tokens.peek().text.slice(0, 40)}, which does not belong there,`)
}

/** As protoc makes it of a field's name. */
function jsonNameOf(name: string): string {
  return name.replace(/_+([^_]?)/g, (_, letter: string) => letter.toUpperCase())
}
