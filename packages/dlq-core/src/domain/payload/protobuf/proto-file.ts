// A .proto file while it is read: FileDescriptorProto with as much as decides about bytes and their JSON.

/** A field of FieldDescriptorProto. `type` is `unknownType` until it is known whether its name means a message or an enumeration. */
export type ProtoField = {
  name: string
  number: number
  label: number
  type: number
  jsonName: string
  typeName?: string
  extendee?: string
  oneofIndex?: number
  proto3Optional?: boolean
  options?: { packed: boolean }
}
export type ProtoEnum = { name: string; value: { name: string; number: number }[] }
export type ProtoMessage = {
  name: string
  field: ProtoField[]
  nestedType: ProtoMessage[]
  enumType: ProtoEnum[]
  extension: ProtoField[]
  oneofDecl: { name: string }[]
  options?: { mapEntry: boolean }
}
export type ProtoFile = {
  name: string
  package: string
  syntax: string
  dependency: string[]
  publicDependency: number[]
  messageType: ProtoMessage[]
  enumType: ProtoEnum[]
  extension: ProtoField[]
}

export const messageType = 11
export const enumType = 14
/** Its name is looked up when the whole file is read. */
export const unknownType = 0
/** Of a name, also a whole one: each field holds that of its type. */
export const maxName = 500
