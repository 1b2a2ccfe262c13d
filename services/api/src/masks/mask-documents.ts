// Masks JSON that is about messages without being one: selections of runs, what sagas keep, the audit's before and after.

import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { hiddenMark } from 'dlq-core/domain/masks/mask-json.ts'
import { payloadChoices } from 'dlq-core/domain/retry/retry-policy.ts'

/** Members that hold what somebody looked for, or wrote into messages. */
const contentMembers: Readonly<Record<string, unknown>> = {
  key: hiddenMark,
  // As a filter has it: the text of a JSON value.
  payload: JSON.stringify(hiddenMark),
  q: hiddenMark,
  patch: null,
}

/** Members that people write. */
const writtenMembers = new Set(['reason', 'note', 'error', 'error_message', 'message', 'title'])

/** The audit of policies has their settings, of which one is called so. */
function isPolicySetting(member: string, value: unknown): boolean {
  return member === 'payload' && (payloadChoices as readonly unknown[]).includes(value)
}

type Masked = { value: unknown; hidden: string[] }

/** A JSON text without what it looks for in messages. */
export function maskSelection(json: string): Masked {
  const hidden: string[] = []
  const value = walk(JSON.parse(json), { hidden, at: '', text: null })
  return { value: JSON.stringify(value), hidden }
}

/** The same, and with the texts in it masked. JSON text stays JSON text. */
export function maskDocument(document: unknown, { text }: Mask): Masked {
  const hidden: string[] = []
  const parsed: unknown = typeof document === 'string' ? JSON.parse(document) : document
  const value = walk(parsed, { hidden, at: '', text })
  return { value: typeof document === 'string' ? JSON.stringify(value) : value, hidden }
}

function walk(value: unknown, asked: { hidden: string[]; at: string; text: Mask['text'] }, name = ''): unknown {
  const { hidden, at, text } = asked
  if (typeof value === 'string') {
    // Detectors find what they find in any text; who sees no text at all still sees statuses and ids.
    const isHiddenWhole = text !== null && text('') === hiddenMark && !writtenMembers.has(name)
    const masked = text === null || isHiddenWhole ? value : text(value)
    if (masked !== value) hidden.push(at)
    return masked
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((element) => walk(element, { ...asked, at: `${at}/*` }, name))
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) => {
      const place = `${at}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`
      const isContent = Object.hasOwn(contentMembers, member) && !isPolicySetting(member, inner)
      if (inner === null || !isContent) return [member, walk(inner, { ...asked, at: place }, member)]
      hidden.push(place)
      return [member, contentMembers[member]]
    }),
  )
}
