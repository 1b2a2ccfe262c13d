// Changes of keys and values, where they hold up nobody: small ones here, and beside the event loop whatever takes more
// than a few milliseconds. At its bounds a JSON Patch takes half a second.

import {
  type ChangedValue,
  type ChangeLeave,
  changeValue,
  plainReading,
  type ValueChange,
} from '../../domain/message/change-value.ts'
import { projectJson } from '../../domain/message/edit-message.ts'
import type { Reading } from '../../domain/payload/read-payload.ts'
import type { Part } from '../../domain/payload/schema-frames.ts'
import { storedPayloadHeaders } from '../../domain/payload/stored-decoding.ts'
import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import type { PayloadReader } from '../schemas/payload-reader.ts'
import { type Aside, AsideFault, type Asker } from './aside.ts'
import type { Changed, ChangeTask, SentSchema } from './change-worker.ts'

/** Bytes, and characters of JSON. Less is changed in less time than another thread needs to take it: some 2 ms. */
export const leastAside = 32_768

/** `payloads`: null where only JSON is read. */
export type AsideDeps = { readonly aside: Aside; readonly payloads: PayloadReader | null }

export type Changing = ChangeLeave & {
  readonly bytes: Buffer
  readonly part: Part
  readonly topics: MessageTopics
  /** As stored; `after`: those that the message has afterwards. */
  readonly headers: { readonly before: string | null; readonly after: string | null }
  readonly change: ValueChange
  /** Longer values with a schema are not read. */
  readonly maxBytes: number
  /** How long to wait for a schema that nobody has asked for yet. */
  readonly waitMs: number
}

/**
 * The value after the change, and what is stored beside it. What takes too long or too much memory has that problem.
 *
 * @throws {AsideFault} where too many others wait, or nobody waits for it any more
 */
export async function changeAside(deps: AsideDeps, changing: Changing, asker: Asker): Promise<Changed> {
  const small = await changeHere(deps, changing)
  if (small !== null) return small
  try {
    return await runAside(deps, changing, asker)
  } catch (error) {
    if (!(error instanceof AsideFault) || error.kind !== 'overrun') throw error
    const left = { before: null, after: null, bytes: null, isForcible: false, projected: null }
    return { ...left, problem: 'takes_too_long', details: [error.message] }
  }
}

/** Null where it is not certain to be short. */
async function changeHere({ payloads }: AsideDeps, changing: Changing): Promise<Changed | null> {
  const { bytes, part, topics, headers, change, maxBytes, waitMs, reencode, force } = changing
  if (bytes.length >= leastAside || mayGrow(change)) return null
  const readable = { bytes, part, headers: storedPayloadHeaders(headers.before), topics }
  // Bounded by itself: it is how every list and page reads the value.
  const reading = payloads ? await payloads.readOne(readable, { maxBytes, waitMs }) : plainReading(bytes)
  if (!isShort(reading)) return null
  const changed: ChangedValue = changeValue(bytes, { reading, change, reencode, force })
  const project = payloads?.projectFor(topics) ?? projectJson
  const projected = changed.bytes === null || part === 'key' ? null : project(changed.bytes, headers.after)
  return { ...changed, projected }
}

function mayGrow(change: ValueChange): boolean {
  if ('json' in change) return change.json.length >= leastAside
  // Each copy may double the value.
  return change.patch.length >= leastAside || change.patch.includes('"copy"')
}

/** A few bytes of Avro or of zstd may be a long text, and a JSON Schema's patterns may take any time. */
function isShort({ json, layout }: Reading): boolean {
  return (json?.length ?? 0) < leastAside && layout?.schema?.type !== 'json'
}

/** Sends the task, again with the schemas that it turns out to need. */
async function runAside(
  { aside, payloads }: AsideDeps,
  { topics, maxBytes, waitMs, ...given }: Changing,
  asker: Asker,
): Promise<Changed> {
  const { bytes, part, headers, change, reencode, force } = given
  const task: Omit<ChangeTask, 'reading'> = { bytes, part, headers, change, reencode, force }
  const schemas: SentSchema[] = []
  const plan = payloads === null ? null : sendablePlan(payloads, topics)
  for (;;) {
    const result = await aside.run({ ...task, reading: plan && { plan, maxBytes, schemas } }, asker)
    if (!('wanted' in result)) return { ...result, bytes: result.bytes && Buffer.from(result.bytes) }
    await payloads!.settle(result.wanted, { waitMs })
    schemas.push(...result.wanted.map((ref) => ({ ref, entry: withoutCodec(payloads!.schemaOf(ref)) })))
  }
}

/** The configuration's registry has logins; a plan needs none of them. */
function sendablePlan({ planOf }: PayloadReader, topics: MessageTopics) {
  const { key, value, registry } = planOf(topics)
  return { key, value, registry: registry && { name: registry.name, type: registry.type, topics: [] } }
}

function withoutCodec(schema: ReturnType<PayloadReader['schemaOf']>): SentSchema['entry'] {
  if (schema?.state !== 'known') return schema ?? null
  const { codec, ...data } = schema
  return data
}
