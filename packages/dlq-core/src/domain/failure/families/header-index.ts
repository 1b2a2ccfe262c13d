// One pass over a record's headers into what the parsers look up: for each name that any of them
// knows, its occurrences in wire order. Foreign headers cost one set lookup and are not kept.

import type { Header } from '../../record/record.ts'

/** One occurrence of a name: its place among all of the record's headers, and its value. */
export type Occurrence = { readonly at: number; readonly value: Buffer | null }

/** Occurrences by header name, in wire order. A name that does not occur is absent. */
export type HeaderIndex = ReadonlyMap<string, readonly Occurrence[]>

/** Indexes the headers whose names are in `names`. Linear in the number of headers. */
export function indexHeaders(headers: readonly Header[], names: ReadonlySet<string>): HeaderIndex {
  const index = new Map<string, Occurrence[]>()
  for (let at = 0; at < headers.length; at++) {
    const [name, value] = headers[at]!
    if (!names.has(name)) continue
    const occurrences = index.get(name)
    if (occurrences === undefined) index.set(name, [{ at, value }])
    else occurrences.push({ at, value })
  }
  return index
}

/** The last value of a name, null where it is null or absent. */
export function lastValue(index: HeaderIndex, name: string): Buffer | null {
  return index.get(name)?.at(-1)?.value ?? null
}

/**
 * The newest failure's value of a header that its producer appends as part of a set beginning with
 * `anchor`. If the newest set omits a header (an exception without a message), an older set's value must not
 * be returned: a last value that stands before the last anchor counts only
 * if the name occurs as often as the anchor, that is, where a tool has regrouped headers by name.
 */
export function appendedValue(index: HeaderIndex, name: string, anchor: string): Buffer | null {
  const values = index.get(name)
  const last = values?.at(-1)
  if (values === undefined || last === undefined) return null
  const anchors = index.get(anchor)
  const newestSet = anchors?.at(-1)
  if (anchors !== undefined && newestSet !== undefined) {
    if (last.at < newestSet.at && values.length < anchors.length) return null
  }
  return last.value
}

/** As `appendedValue`, for a producer that puts each new set, `anchor` first, in front of the older ones. */
export function prependedValue(index: HeaderIndex, name: string, anchor: string): Buffer | null {
  const values = index.get(name)
  const first = values?.[0]
  if (values === undefined || first === undefined) return null
  const anchors = index.get(anchor)
  const olderSet = anchors?.[1]
  if (anchors !== undefined && olderSet !== undefined) {
    if (first.at > olderSet.at && values.length < anchors.length) return null
  }
  return first.value
}

/** The place of the last occurrence of any of the names, −1 where there is none. */
export function lastPlace(index: HeaderIndex, names: readonly string[]): number {
  return names.reduce((place, name) => Math.max(place, index.get(name)?.at(-1)?.at ?? -1), -1)
}

/** The place of the first occurrence of any of the names, Infinity where there is none. */
export function firstPlace(index: HeaderIndex, names: readonly string[]): number {
  return names.reduce((place, name) => Math.min(place, index.get(name)?.[0]?.at ?? Infinity), Infinity)
}
