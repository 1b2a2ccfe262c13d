// How large a document may become by a JSON Patch. "copy" doubles it: an operator's 26 operations ended the API with 4.4 GB,
// and the retrier three times.

import { digitsOf } from './exact-json.ts'
import { maxProjectedBytes, maxProjectedDepth } from './payload-projection.ts'

export type PatchBounds = {
  /** Counts a value that is about to be added at the path. */
  add(value: unknown, path: string): void
  /** Counts a value that was removed. */
  remove(value: unknown): void
  /** Counts a value that is compared. */
  look(value: unknown): void
}

/** A document that came with more keeps what it has. */
const maxNodes = 200_000
/** Of all operations together: each costs as much as the values that it touches. */
const maxVisited = 1_000_000

/** A document within these bounds also fits `payload`. `refuse` throws. */
export function createPatchBounds(document: unknown, refuse: (reason: string) => never): PatchBounds {
  const size = measure(document)
  const mostNodes = Math.max(maxNodes, size.nodes)
  const mostBytes = Math.max(maxProjectedBytes, size.bytes)
  const mostVisited = Math.max(maxVisited, 2 * size.nodes)
  let visited = 0

  function measured(value: unknown): Size {
    const found = measure(value)
    visited += found.nodes
    if (visited > mostVisited) refuse(`the operations touch more than ${mostVisited} values`)
    return found
  }

  return {
    add(value, path) {
      const added = measured(value)
      size.nodes += added.nodes
      size.bytes += added.bytes
      if (size.nodes > mostNodes) refuse(`the document gets more than ${mostNodes} values`)
      if (size.bytes > mostBytes) refuse(`the document gets longer than ${mostBytes} bytes`)
      if (path.split('/').length - 1 + added.depth > maxProjectedDepth)
        refuse(`the document gets deeper than ${maxProjectedDepth} levels`)
    },
    remove(value) {
      const removed = measured(value)
      size.nodes -= removed.nodes
      size.bytes -= removed.bytes
    },
    look(value) {
      measured(value)
    },
  }
}

type Size = { nodes: number; bytes: number; depth: number }

/** Of how many values a document consists, about how long its JSON text is, and how many containers deep it is. */
function measure(document: unknown): Size {
  const size: Size = { nodes: 0, bytes: 0, depth: 0 }
  // Level by level, so that no nesting is too deep for the stack.
  for (let level: unknown[] = [document]; level.length > 0; ) {
    const inner: unknown[] = []
    let hasContainers = false
    for (const value of level) {
      size.nodes += 1
      size.bytes += ownBytes(value)
      if (typeof value !== 'object' || value === null || digitsOf(value) !== null) continue
      hasContainers = true
      if (Array.isArray(value)) {
        for (const member of value) inner.push(member)
        continue
      }
      for (const [key, member] of Object.entries(value)) {
        size.bytes += key.length + 4
        inner.push(member)
      }
    }
    if (hasContainers) size.depth += 1
    level = inner
  }
  return size
}

function ownBytes(value: unknown): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 5
  return (digitsOf(value)?.length ?? 2) + 1
}
