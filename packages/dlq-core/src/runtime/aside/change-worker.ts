// What the thread does: it reads a value, changes it, and reads the outcome as it will be stored. Schemas come as plain
// data, and their codecs are made here.

import { isDeepStrictEqual } from 'node:util'
import {
  type ChangedValue,
  type ChangeLeave,
  changeValue,
  plainReading,
  type ValueChange,
} from '../../domain/message/change-value.ts'
import { projectJson } from '../../domain/message/edit-message.ts'
import { createCodec } from '../../domain/payload/create-codec.ts'
import { maxEncodedBytes } from '../../domain/payload/payload-bounds.ts'
import type { PayloadPlan } from '../../domain/payload/payload-settings.ts'
import {
  type AwaitedSchema,
  type KnownSchema,
  type Reading,
  readPayload,
  type SchemaEntry,
} from '../../domain/payload/read-payload.ts'
import type { Part, SchemaRef } from '../../domain/payload/schema-frames.ts'
import { type StoredDecoding, storedDecoding, storedPayloadHeaders } from '../../domain/payload/stored-decoding.ts'

/** A schema without its codec; null where nothing is known of it. */
export type SentSchema = { readonly ref: SchemaRef; readonly entry: Omit<KnownSchema, 'codec'> | AwaitedSchema | null }

export type ChangeTask = ChangeLeave & {
  readonly bytes: Uint8Array
  readonly part: Part
  /** Null: the bytes are the new value, and only what is stored beside them is asked for. */
  readonly change: ValueChange | null
  /** How values are read; null where only JSON is. */
  readonly reading: {
    readonly plan: PayloadPlan
    readonly maxBytes: number
    readonly schemas: readonly SentSchema[]
  } | null
  /** As stored: the present ones, and those that the message has afterwards. */
  readonly headers: { readonly before: string | null; readonly after: string | null }
}

/** `projected`: what is stored beside a new value; null for a key, and where there is a problem. */
export type Changed = ChangedValue & { readonly projected: StoredDecoding | null }

/** `wanted`: schemas that the task has to bring along. */
export type ChangeResult = Changed | { readonly wanted: readonly SchemaRef[] }

export default function changeInWorker({ part, change, headers, reencode, force, ...task }: ChangeTask): ChangeResult {
  const bytes = bufferOf(task.bytes)
  const wanted: SchemaRef[] = []
  const read = (value: Buffer, stored: string | null, maxBytes: number): Reading => {
    if (task.reading === null) return plainReading(value)
    const { plan, schemas } = task.reading
    return readPayload(value, {
      ...{ part, plan, maxBytes, headers: storedPayloadHeaders(stored) },
      schemaOf(ref) {
        const sent = schemas.find((one) => isDeepStrictEqual(one.ref, ref))
        if (sent === undefined) wanted.push(ref)
        return sent?.entry ? withCodec(sent.entry) : undefined
      },
    })
  }
  const project = (value: Buffer): StoredDecoding | null => {
    if (part === 'key') return null
    if (task.reading === null) return projectJson(value, headers.after)
    return storedDecoding(read(value, headers.after, maxEncodedBytes), true)
  }
  const changed =
    change === null
      ? asGiven(bytes)
      : changeValue(bytes, {
          reading: read(bytes, headers.before, task.reading?.maxBytes ?? 0),
          change,
          reencode,
          force,
        })
  const projected = changed.bytes === null ? null : project(changed.bytes)
  return wanted.length > 0 ? { wanted } : { ...changed, projected }
}

function asGiven(bytes: Buffer): ChangedValue {
  return { before: null, after: null, bytes, problem: null, details: [], isForcible: false }
}

/** What comes from another thread has lost its class. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** A codec is compiled when first used; the next task mostly has the same schema. */
const maxRemembered = 50
const remembered = new Map<string, KnownSchema>()

function withCodec(entry: Omit<KnownSchema, 'codec'> | AwaitedSchema): SchemaEntry {
  if (entry.state !== 'known') return entry
  const key = JSON.stringify(entry.ref)
  const known = remembered.get(key)
  if (known !== undefined && isDeepStrictEqual(known.source, entry.source)) return known
  if (remembered.size >= maxRemembered) remembered.clear()
  const made: KnownSchema = { ...entry, codec: createCodec(entry.source) }
  remembered.set(key, made)
  return made
}
