// Finds what the names of types in a .proto file mean: https://protobuf.dev/programming-guides/proto3/#name-resolution

import type { DescriptorProto, FileDescriptorProto } from '@bufbuild/protobuf/wkt'
import { PayloadFault } from '../payload-fault.ts'
import {
  enumType,
  maxName,
  messageType,
  type ProtoEnum,
  type ProtoField,
  type ProtoFile,
  type ProtoMessage,
  unknownType,
} from './proto-file.ts'

/** A package, a message or an enumeration. `type`: null for a package. */
type Scope = { name: string; type: typeof messageType | typeof enumType | null; inner: Map<string, Scope> }
type Declared = {
  messageType: readonly (ProtoMessage | DescriptorProto)[]
  enumType: readonly Pick<ProtoEnum, 'name'>[]
}

/** Writes whole names, and whether they mean messages or enumerations, into the fields. @throws {PayloadFault} */
export function linkProto(file: ProtoFile, imports: readonly FileDescriptorProto[]): void {
  const root: Scope = { name: '', type: null, inner: new Map() }
  for (const imported of imports) declareAll(packageOf(root, imported.package).at(0)!, imported)
  const scopes = packageOf(root, file.package)
  declareAll(scopes[0]!, file)
  linkFields(scopes, file.extension)
  for (const message of file.messageType) linkMessage(scopes, message)
}

/** The package's scope and those around it, the innermost first. */
function packageOf(root: Scope, name: string): Scope[] {
  const scopes = [root]
  if (name !== '') for (const part of name.split('.')) scopes.unshift(within(scopes[0]!, part, null))
  return scopes
}

function within(outer: Scope, name: string, type: Scope['type']): Scope {
  const known = outer.inner.get(name)
  if (known !== undefined) {
    known.type ??= type
    return known
  }
  const whole = outer.name === '' ? name : `${outer.name}.${name}`
  if (whole.length > maxName) throw new PayloadFault(`the schema has a name of more than ${maxName} characters`)
  const scope: Scope = { name: whole, type, inner: new Map() }
  outer.inner.set(name, scope)
  return scope
}

function declareAll(scope: Scope, { messageType: messages, enumType: enums }: Declared): void {
  for (const { name } of enums) within(scope, name, enumType)
  for (const { name, nestedType, enumType } of messages)
    declareAll(within(scope, name, messageType), { messageType: nestedType, enumType })
}

function linkMessage(outer: readonly Scope[], message: ProtoMessage): void {
  const scopes = [outer[0]!.inner.get(message.name)!, ...outer]
  linkFields(scopes, message.field)
  linkFields(scopes, message.extension)
  for (const nested of message.nestedType) linkMessage(scopes, nested)
}

function linkFields(scopes: readonly Scope[], fields: readonly ProtoField[]): void {
  for (const field of fields) {
    if (field.extendee !== undefined) field.extendee = `.${find(scopes, field.extendee).name}`
    if (field.typeName === undefined) continue
    const { name, type } = find(scopes, field.typeName)
    field.typeName = `.${name}`
    if (field.type === unknownType) field.type = type
  }
}

/** From the innermost scope outward; a name that begins with a point is whole. */
function find(scopes: readonly Scope[], wanted: string): { name: string; type: number } {
  const isWhole = wanted.startsWith('.')
  const parts = wanted.slice(isWhole ? 1 : 0).split('.')
  for (const scope of isWhole ? scopes.slice(-1) : scopes) {
    let found: Scope | undefined = scope
    for (const part of parts) found = found?.inner.get(part)
    if (found !== undefined && found.type !== null) return { name: found.name, type: found.type }
  }
  throw new PayloadFault(`the .proto text has no type ${wanted.slice(0, 200)}, nor has what it imports`)
}
