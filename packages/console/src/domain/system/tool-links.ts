// Addresses in other tools, by the templates of `console.links`: `https://traces.example.com/trace/{trace_id}`.

import type { frameLinkNames, messageLinkNames } from 'dlq-core/domain/message/link-names.ts'

type Values<Name extends string = string> = Readonly<Record<Name, string | null>>

/** The address; null where there is no template, or it names what is not known. */
export function addressIn(template: string | null | undefined, values: Values): string | null {
  if (template == null) return null
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  if (names.some((name) => !Object.hasOwn(values, name) || values[name] === null)) return null
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!.toWellFormed()))
}

export type Located = {
  readonly id: string
  readonly original: { readonly topic: string; readonly partition: number | null; readonly offset: string | null }
  readonly consumer_group: string | null
  readonly last_failed_at: string
  readonly headers: readonly { readonly name: string; readonly value: string | null }[] | null
}

/** What the templates `trace` and `logs` may name of a message. */
export function valuesOf(message: Located): Values<(typeof messageLinkNames)[number]> {
  const { original, headers } = message
  return {
    message_id: message.id,
    topic: original.topic,
    partition: original.partition === null ? null : String(original.partition),
    offset: original.offset,
    consumer_group: message.consumer_group,
    failed_at: message.last_failed_at,
    trace_id: traceId(headers ?? []),
  }
}

/** By the header: https://www.w3.org/TR/trace-context/#traceparent-header and https://github.com/openzipkin/b3-propagation */
const traceHeaders: Readonly<Record<string, RegExp>> = {
  traceparent: /^[0-9a-f]{2}-([0-9a-f]{32})-/,
  'x-b3-traceid': /^([0-9a-f]{32}|[0-9a-f]{16})$/,
  b3: /^([0-9a-f]{32}|[0-9a-f]{16})-/,
}

function traceId(headers: NonNullable<Located['headers']>): string | null {
  for (const { name, value } of headers.toReversed()) {
    const lower = name.toLowerCase()
    const found = Object.hasOwn(traceHeaders, lower) ? traceHeaders[lower]!.exec(value ?? '') : null
    if (found !== null) return found[1]!
  }
  return null
}

/** What the template `source` may name, of a frame of a stack trace; null where it names no line. */
export function placeOfFrame(frame: string): Values<(typeof frameLinkNames)[number]> | null {
  // A name has a bound: without one, a long line without a place would take time that grows with its square.
  const [, file, line] = /([^\s()"/\\]{1,200}\.\w+)(?:", line |:line |:)(\d+)/.exec(frame) ?? []
  return file === undefined ? null : { file, line: line! }
}

export type TicketPart = { readonly text: string; readonly isTicket: boolean }

/** The text in parts, the names of tickets such as OPS-4711 apart. */
export function ticketParts(text: string): TicketPart[] {
  const parts = text.split(/\b([A-Z][A-Z0-9]{1,9}-[1-9]\d{0,8})\b/)
  return parts.map((text, at) => ({ text, isTicket: at % 2 === 1 })).filter(({ text }) => text !== '')
}
