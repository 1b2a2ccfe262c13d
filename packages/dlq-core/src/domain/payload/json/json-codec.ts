// JSON in the frame of a JSON Schema: the JSON behind the frame. Edits are checked against the schema, by
// @cfworker/json-schema, which interprets it and makes no code of it. No `$ref` is followed to the network.

import { type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'
import { projectPayload } from '../../record/payload-projection.ts'
import { PayloadFault } from '../payload-fault.ts'
import type { SchemaCodec } from '../schema-codec.ts'
import { bounded, isTimeout, maxCheckMs } from './bounded-check.ts'

export function createJsonCodec(definition: string, references: readonly string[]): SchemaCodec {
  let validator: Validator | null = null
  return {
    read(bytes, at) {
      const text = projectPayload(bytes.subarray(at))
      if (text === null) throw new PayloadFault('it is no JSON')
      return text
    },
    write: (json) => Buffer.from(json),
    violationOf(json) {
      const value = JSON.parse(json) as unknown
      try {
        return bounded(() => {
          validator ??= compile(definition, references)
          return violationIn(validator, value)
        })
      } catch (error) {
        return `the schema cannot be checked: ${reasonOf(error)}`
      }
    },
  }
}

function reasonOf(error: unknown): string {
  // Out of the context comes an error of its own kind.
  const { name, message } = error as Error
  if (isTimeout(error)) return `it takes longer than ${maxCheckMs} ms`
  if (name === 'RangeError') return 'it is nested too deeply'
  return message.split('\n')[0]!.slice(0, 300)
}

/** The base of those that have none, so that relative references meet. */
const baseUri = 'https://schemas.invalid/'

function compile(definition: string, references: readonly string[]): Validator {
  const schema = JSON.parse(definition) as Schema | boolean
  if (typeof schema === 'boolean') return new Validator(schema)
  const id = new URL(String(schema.$id ?? schema.id ?? ''), baseUri).href
  const validator = new Validator({ ...schema, $id: id }, draftOf(schema))
  for (const text of references) {
    const other = JSON.parse(text) as Schema | boolean
    if (typeof other === 'boolean' || typeof other.$id !== 'string') continue
    validator.addSchema(other, new URL(other.$id, id).href)
  }
  return validator
}

/** Confluent's serializers take draft 7 where the schema says nothing. */
function draftOf({ $schema }: Schema): SchemaDraft {
  const said = String($schema ?? '')
  if (said.includes('2020-12')) return '2020-12'
  if (said.includes('2019-09')) return '2019-09'
  return said.includes('draft-04') ? '4' : '7'
}

/** What does not fit, with its path; null where everything does. */
function violationIn(validator: Validator, value: unknown): string | null {
  const { valid, errors } = validator.validate(value)
  if (valid) return null
  // The last one is the innermost.
  const { instanceLocation, error } = errors.at(-1)!
  const path = instanceLocation.replace(/^#/, '')
  return `${path === '' ? 'the value' : path}: ${error}`
}

/** The definition under the name by which others refer to it, unless it has one. */
export function namedJsonSchema(definition: string, name: string): string {
  try {
    const schema = JSON.parse(definition) as unknown
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || '$id' in schema) return definition
    return JSON.stringify({ $id: name, ...schema })
  } catch {
    return definition // It is not used before somebody edits, and says so then.
  }
}
