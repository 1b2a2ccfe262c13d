// Avro's single-object encoding names a schema by the CRC-64-AVRO of its canonical form:
// https://avro.apache.org/docs/1.12.0/specification/#schema-fingerprints

import type { AvroType } from './avro-schema.ts'

/** `c3 01`, and the fingerprint, the lowest byte first. */
export const singleObjectBytes = 10

/** The fingerprint that the bytes begin with, as `avroFingerprint` has it; null where they are no single object. */
export function fingerprintOf(bytes: Buffer): string | null {
  if (bytes.length < singleObjectBytes || bytes[0] !== 0xc3 || bytes[1] !== 0x01) return null
  return bytes.readBigUInt64LE(2).toString(16).padStart(16, '0')
}

/** Sixteen hexadecimal digits. */
export function avroFingerprint(type: AvroType): string {
  let crc = empty
  for (const byte of Buffer.from(canonicalForm(type))) crc = (crc >> 8n) ^ table[Number((crc ^ BigInt(byte)) & 0xffn)]!
  return crc.toString(16).padStart(16, '0')
}

const empty = 0xc15d213aa4d7a795n
const table = Array.from({ length: 256 }, (_, byte) => {
  let entry = BigInt(byte)
  for (let bit = 0; bit < 8; bit += 1) entry = (entry >> 1n) ^ (entry & 1n ? empty : 0n)
  return entry
})

/** The parsing canonical form. A named type stands in full where it comes first, and by its name behind. */
export function canonicalForm(type: AvroType, seen: Set<string> = new Set()): string {
  if ('name' in type) {
    if (seen.has(type.name)) return JSON.stringify(type.name)
    seen.add(type.name)
  }
  switch (type.kind) {
    case 'record': {
      const fields = type.fields.map((field) => {
        return `{"name":${JSON.stringify(field.name)},"type":${canonicalForm(field.type, seen)}}`
      })
      return `{"name":${JSON.stringify(type.name)},"type":"record","fields":[${fields.join()}]}`
    }
    case 'enum':
      return `{"name":${JSON.stringify(type.name)},"type":"enum","symbols":${JSON.stringify(type.symbols)}}`
    case 'fixed':
      return `{"name":${JSON.stringify(type.name)},"type":"fixed","size":${type.size}}`
    case 'array':
      return `{"type":"array","items":${canonicalForm(type.items, seen)}}`
    case 'map':
      return `{"type":"map","values":${canonicalForm(type.values, seen)}}`
    case 'union':
      return `[${type.branches.map((branch) => canonicalForm(branch, seen)).join()}]`
    default:
      return JSON.stringify(type.kind)
  }
}
