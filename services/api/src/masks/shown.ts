// The one door between rows and answers. Whatever turns a row with content of messages into JSON or CSV takes a `Shown` row,
// and only this file makes one. Each column that holds content is named here, with what becomes of it.

import type { Mask, MaskedTopics } from 'dlq-core/domain/masks/create-masks.ts'
import { hiddenMark, hiddenValue, maskJson } from 'dlq-core/domain/masks/mask-json.ts'
import { beginningShown } from 'dlq-core/domain/masks/mask-text.ts'
import { maxSealedBytes } from 'dlq-core/domain/masks/seal-key.ts'
import { isCutForList, listedChars } from 'dlq-core/domain/message/listed-text.ts'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import * as v from 'valibot'
import { maskDocument, maskSelection } from './mask-documents.ts'
import { maskStoredHeaders } from './mask-headers.ts'
import type { Sight } from './sight.ts'

declare const door: unique symbol

/** A row as the sender of the request may see it. `hidden`: JSON Pointers into the object that it becomes. */
export type Shown<Row> = Row & { readonly [door]: true; readonly hidden?: readonly string[] }

/** What such an object has beside the row's own fields. */
export const hiddenEntries = {
  hidden: v.exactOptional(
    v.pipe(
      v.array(v.string()),
      v.description(
        'JSON Pointers into this object of what is hidden from the token: "•••" stands there, or null. `*` is every position of a list. Absent: nothing is hidden.',
      ),
    ),
  ),
}

/** For the object that a shown row becomes. */
export function hiddenOf({ hidden }: Shown<object>): { hidden?: string[] } {
  return hidden === undefined ? {} : { hidden: [...hidden] }
}

type Part = { value: unknown; hidden: readonly string[] }
type Change = (value: never, asked: { mask: Mask; sight: Sight; at: string }) => Part | null

const changes: Readonly<Record<string, { at: string; change: Change }>> = {
  error_message: { at: '/error_message', change: text },
  error_stacktrace: { at: '/error_stacktrace', change: text },
  error: { at: '/error', change: text },
  failed_again_message: { at: '/failed_again/error_message', change: text },
  title: { at: '/title', change: text },
  message: { at: '/message', change: text },
  reason: { at: '/reason', change: text },
  status_reason: { at: '/status_reason', change: text },
  detail: { at: '/detail', change: text },
  note: { at: '/note', change: text },
  // They stand among the reasons why a message is held up.
  group_paused: { at: '/held_up_by', change: text },
  paused_topics: { at: '/held_up_by', change: pausedTopics },
  record_key: { at: '/key', change: key },
  decoded_key: { at: '/decoded_key', change: keyJson },
  record_headers: { at: '/headers', change: headers },
  value_bytes: { at: '/value_bytes', change: size },
  key_bytes: { at: '/key_bytes', change: keySize },
  previewed: { at: '', change: preview },
  decoding: { at: '/decoding', change: problem },
  selection: { at: '/selection', change: selection },
  filter: { at: '/filter', change: selection },
  patch: { at: '/patch', change: absent },
  before: { at: '/before', change: document },
  after: { at: '/after', change: document },
  data: { at: '/data', change: document },
  request_payload: { at: '/request_payload', change: document },
  response_payload: { at: '/response_payload', change: document },
}

const allChanges = Object.entries(changes)

/**
 * The row with everything hidden that its topics' masks hide from the sender. Where nothing is, it is the row itself.
 *
 * @param topics of the message that the row is about; `anywhere` where it may be about messages of any topic
 */
export function shown<Row extends MaskedTopics>(row: Row, sight: Sight): Shown<Row>
export function shown<Row extends object>(row: Row, sight: Sight, topics: MaskedTopics | 'anywhere'): Shown<Row>
export function shown<Row extends object>(
  row: Row,
  sight: Sight,
  topics: MaskedTopics | 'anywhere' = row as Row & MaskedTopics,
): Shown<Row> {
  if (sight.unmasked !== null) sight.unmasked.note(idOf(row), topics === 'anywhere' ? null : topics)
  const mask = topics === 'anywhere' ? sight.anywhere : sight.maskOf(topics)
  if (mask === null) return row as Shown<Row>
  const after: Record<string, unknown> = { ...(row as Readonly<Record<string, unknown>>) }
  const hidden: string[] = []
  const put = (name: string, part: Part | null) => {
    if (part === null) return
    after[name] = part.value
    hidden.push(...part.hidden)
  }
  for (const [name, { at, change }] of allChanges) {
    const value = after[name]
    if (value !== undefined && value !== null) put(name, change(value as never, { mask, sight, at }))
  }
  if (mask.paths !== null && 'unprojected_value' in row) {
    put('payload', payload(row as unknown as Valued, mask.paths))
    after.unprojected_value = null
  } else if ('workflow_name' in row) put('payload', sagaPayload(row as { payload?: string | null }))
  return { ...after, ...(hidden.length > 0 && { hidden }) } as unknown as Shown<Row>
}

/** A text that stands alone in an answer, such as a fault. */
export function shownText<Text extends string | null>(
  given: Text,
  sight: Sight,
  topics: MaskedTopics | 'anywhere',
): Text {
  if (given !== null) sight.unmasked?.note(null, topics === 'anywhere' ? null : topics)
  const mask = topics === 'anywhere' ? sight.anywhere : sight.maskOf(topics)
  return given === null || !mask?.text ? given : (mask.text(given) as Text)
}

function idOf(row: object): string | null {
  const { id, message_id: messageId } = row as { id?: unknown; message_id?: unknown }
  const found = messageId ?? id
  return typeof found === 'string' ? found : null
}

type Valued = { payload: string | null; unprojected_value: Buffer | null }

/** A value without a JSON form is hidden as a whole: nobody can say what is in it. */
function payload({ payload, unprojected_value }: Valued, paths: NonNullable<Mask['paths']>): Part | null {
  const json = payload ?? projectPayload(unprojected_value)
  if (json === null && unprojected_value === null) return null
  const { json: value, hidden } = json === null ? hiddenValue : maskedOrHidden(json, paths)
  return { value, hidden: hidden.map((pointer) => `/payload${pointer}`) }
}

function maskedOrHidden(json: string, paths: NonNullable<Mask['paths']>) {
  try {
    return maskJson(json, paths)
  } catch {
    return hiddenValue
  }
}

function text(given: string, { mask, at }: { mask: Mask; at: string }): Part | null {
  if (mask.text === null) return null
  const value = mask.text(given, isCutForList(given) ? beginningShown(listedChars) : undefined)
  return value === given ? null : { value, hidden: [at] }
}

function pausedTopics(
  given: { why: string | null }[],
  { mask: { text }, at }: { mask: Mask; at: string },
): Part | null {
  if (text === null) return null
  const value = given.map((pause) => ({ ...pause, why: pause.why && text(pause.why) }))
  return given.some(({ why }, index) => why !== value[index]!.why) ? { value, hidden: [at] } : null
}

/** As bytes, which are then read as text. */
function key(bytes: Buffer, { mask, sight, at }: { mask: Mask; sight: Sight; at: string }): Part | null {
  if (mask.key === 'show') return null
  const isSealed = mask.key === 'pseudonym' && sight.seal !== null && bytes.length <= maxSealedBytes
  return { value: Buffer.from(isSealed ? sight.seal!.seal(bytes) : hiddenMark), hidden: [at] }
}

function keyJson(_: string, { mask, at }: { mask: Mask; at: string }): Part | null {
  return mask.key === 'show' ? null : { value: hiddenValue.json, hidden: [at] }
}

function headers(stored: string, { mask, at }: { mask: Mask; at: string }): Part | null {
  const value = maskStoredHeaders(stored, mask)
  return value === null ? null : { value, hidden: [`${at}/*/value`] }
}

/** The size of a hidden value tells of it. */
function size(_: number, { mask, at }: { mask: Mask; at: string }): Part | null {
  return mask.paths === null ? null : { value: null, hidden: [at] }
}

function keySize(_: number, { mask, at }: { mask: Mask; at: string }): Part | null {
  return mask.key === 'show' ? null : { value: null, hidden: [at] }
}

type Preview = { value_start: Buffer | null; key_start: Buffer | null; value_bytes: number | null }

/** The beginning of a value has no places that could be hidden one by one. */
function preview(given: Preview, asked: { mask: Mask; sight: Sight }): Part | null {
  const { mask } = asked
  const keyPart = given.key_start === null ? null : key(given.key_start, { ...asked, at: '/key' })
  const hidesValue = mask.paths !== null
  const value = {
    ...given,
    ...(keyPart !== null && { key_start: keyPart.value }),
    ...(hidesValue && { value_start: given.value_start && Buffer.from(hiddenMark), value_bytes: null }),
  }
  const hidden = [...(keyPart?.hidden ?? []), ...(hidesValue ? ['/preview', '/value_bytes'] : [])]
  return { value, hidden }
}

/** Why a value does not fit its schema may quote the value. */
function problem(decoding: { state: string; problem: string | null }, { mask, at }: { mask: Mask; at: string }) {
  if (mask.paths === null || decoding.state !== 'failed' || decoding.problem === null) return null
  return { value: { ...decoding, problem: hiddenMark }, hidden: [`${at}/problem`] }
}

function selection(json: string, { at }: { at: string }): Part | null {
  const { value, hidden } = maskSelection(json)
  return { value, hidden: hidden.map((pointer) => at + pointer) }
}

function absent(_: unknown, { at }: { at: string }): Part {
  return { value: null, hidden: [at] }
}

function document(json: unknown, { mask, at }: { mask: Mask; at: string }): Part | null {
  const { value, hidden } = maskDocument(json, mask)
  return { value, hidden: hidden.map((pointer) => at + pointer) }
}

/** Of a saga: what it was begun with, which is no message's. */
function sagaPayload({ payload }: { payload?: string | null }): Part | null {
  if (typeof payload !== 'string') return null
  const { value, hidden } = maskSelection(payload)
  return { value, hidden: hidden.map((pointer) => `/payload${pointer}`) }
}
