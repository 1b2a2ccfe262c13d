// Well-known wrappers around a value. They are named, never unwrapped: what is shown is what was sent.

import type { Header } from '../record/record.ts'

export const labels = ['connect', 'debezium', 'cloudevents'] as const
export type Label = (typeof labels)[number]

/** Wrappers are looked for in shorter texts only: it takes a JSON.parse. */
const maxLabelledText = 256 * 1024

/**
 * The wrappers of a value, given its JSON text: Kafka Connect's (`schema`, `payload`), Debezium's (`op`, `source`,
 * `before` or `after`), CloudEvents', structured (`specversion`) or by headers (`ce_id`, `ce_type`, `ce_source`).
 */
export function labelsOf(json: string | null, headers: readonly Header[]): Label[] {
  const found = json === null || json.length > maxLabelledText ? [] : labelsOfText(json)
  const names = new Set(headers.map(([name]) => name))
  const isBinaryEvent = ['ce_id', 'ce_type', 'ce_source'].every((name) => names.has(name))
  return isBinaryEvent && !found.includes('cloudevents') ? [...found, 'cloudevents'] : found
}

function labelsOfText(json: string): Label[] {
  // Cheap: hardly any value has these words.
  const mayWrap = json.includes('"payload"') && json.includes('"schema"')
  const mayChange = json.includes('"op"') && json.includes('"source"')
  const mayBeEvent = json.includes('"specversion"')
  if (!mayWrap && !mayChange && !mayBeEvent) return []
  const value: unknown = JSON.parse(json)
  if (!isObject(value)) return []
  const isWrapped = Object.keys(value).length === 2 && 'schema' in value && 'payload' in value
  const inner = isWrapped ? value.payload : value
  const isChange =
    isObject(inner) && typeof inner.op === 'string' && isObject(inner.source) && ('before' in inner || 'after' in inner)
  const isEvent = typeof value.specversion === 'string' && 'type' in value && 'source' in value
  const found = { connect: isWrapped, debezium: isChange, cloudevents: isEvent }
  return labels.filter((label) => found[label])
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
