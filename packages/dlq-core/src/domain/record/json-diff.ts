// The JSON Patch (RFC 6902) that makes one JSON text of another, with every number's digits.

import { digitsOf, parseExact } from './exact-json.ts'
import { pointerStep } from './json-patch.ts'

type Operation = { op: 'add' | 'remove' | 'replace'; path: string; value?: unknown }

/** More differences than these become one that replaces the whole. */
const maxOperations = 100

/** The patch as JSON text; `[]` where nothing differs. */
export function diffJson(before: string, after: string): string {
  const operations: Operation[] = []
  const isWhole = compare(parseExact(before), parseExact(after), '', operations)
  return isWhole ? JSON.stringify(operations) : `[{"op":"replace","path":"","value":${after}}]`
}

/** False where there are too many differences. */
function compare(before: unknown, after: unknown, path: string, operations: Operation[]): boolean {
  const note = (operation: Operation) => operations.push(operation) <= maxOperations
  if (Array.isArray(before) && Array.isArray(after)) {
    const common = Math.min(before.length, after.length)
    for (let at = 0; at < common; at++) if (!compare(before[at], after[at], `${path}/${at}`, operations)) return false
    for (let at = common; at < after.length; at++)
      if (!note({ op: 'add', path: `${path}/-`, value: after[at] })) return false
    // From the end, because each removal moves those behind it.
    for (let at = before.length - 1; at >= common; at--)
      if (!note({ op: 'remove', path: `${path}/${at}` })) return false
    return true
  }
  if (isObject(before) && isObject(after)) {
    const old = new Map(Object.entries(before))
    const wanted = new Map(Object.entries(after))
    for (const name of old.keys())
      if (!wanted.has(name) && !note({ op: 'remove', path: `${path}/${pointerStep(name)}` })) return false
    for (const [name, value] of wanted) {
      const there = `${path}/${pointerStep(name)}`
      const isThere = old.has(name)
      if (!(isThere ? compare(old.get(name), value, there, operations) : note({ op: 'add', path: there, value })))
        return false
    }
    return true
  }
  return JSON.stringify(before) === JSON.stringify(after) || note({ op: 'replace', path, value: after })
}

/** A number of parseExact is an object too. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === null
}
