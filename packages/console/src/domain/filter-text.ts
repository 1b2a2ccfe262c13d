// What somebody types into the filter: `status:DEAD topic:orders.* key:4711 since:-24h`, or text of the error.

import { type FilterName, filterNames, type MessageFilter } from './addresses.ts'

const shortNames: Readonly<Record<string, FilterName>> = { since: 'from', class: 'error_class', group: 'group_id' }
const known: ReadonlySet<string> = new Set(filterNames)

/** Whether it begins with a filter, such as `status:DEAD`: then all of it is meant as one. */
export function beginsWithFilter(text: string): boolean {
  const [, typed] = /^([a-z_]+):\S/.exec(text) ?? []
  return typed !== undefined && known.has(shortNames[typed] ?? typed)
}

/** Null where nothing was typed. A value with spaces stands in quotation marks; `payload:` takes the rest. */
export function filterFromText(text: string): MessageFilter | null {
  const found: Partial<Record<FilterName, string>> = {}
  const free: string[] = []
  let rest = text.trim()
  while (rest !== '') {
    const [whole, typed, value] = /^([a-z_]+):("(?:[^"\\]|\\.)*"|\{.*\}|\[.*\]|\S+)\s*/s.exec(rest) ?? []
    const name = typed === undefined ? undefined : (shortNames[typed] ?? typed)
    if (whole !== undefined && name !== undefined && known.has(name)) {
      found[name as FilterName] = unquoted(value!)
      rest = rest.slice(whole.length)
    } else {
      const [word] = /^\S+\s*/.exec(rest)!
      free.push(word.trim())
      rest = rest.slice(word.length)
    }
  }
  // What follows `q:` without quotation marks belongs to it.
  if (free.length > 0) found.q = [...(found.q === undefined ? [] : [found.q]), ...free].join(' ')
  if (found.status !== undefined) found.status = found.status.toUpperCase()
  return Object.keys(found).length === 0 ? null : found
}

/** As somebody would have typed it: what is read from this again is the same filter. */
export function textOfFilter(name: FilterName, value: string): string {
  const plain = /^[^\s"{[]\S*$/.test(value) || isJsonOfOneEnd(value)
  return `${name}:${plain ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
}

function isJsonOfOneEnd(value: string): boolean {
  return /^(?:\{.*\}|\[.*\])$/s.test(value)
}

function unquoted(value: string): string {
  return value.startsWith('"') && value.endsWith('"') && value.length > 1
    ? value.slice(1, -1).replace(/\\(.)/g, '$1')
    : value
}
