// A page of the audit, with what was before and after as the API wrote it: digits and all.

import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser'

export type AuditField = {
  readonly name: string
  /** JSON; null where it did not say it. */
  readonly before: string | null
  readonly after: string | null
}

export type ReadEntry<Entry> = Entry & { readonly fields: readonly AuditField[] }

type Page<Entry> = { entries: Entry[]; next_cursor: string | null }

/** `text`: the answer of GET /api/v1/audit. */
export function readAudit<Entry extends object>(text: string): Page<ReadEntry<Entry>> {
  const { entries, next_cursor } = JSON.parse(text) as Page<Entry>
  const tree = parseTree(text)
  return {
    next_cursor,
    entries: entries.map((entry, at) => ({ ...entry, fields: tree === undefined ? [] : fieldsAt(tree, at, text) })),
  }
}

function fieldsAt(tree: Node, at: number, text: string): AuditField[] {
  const before = sideAt(tree, [at, 'before'], text)
  const after = sideAt(tree, [at, 'after'], text)
  return [...new Set([...before.keys(), ...after.keys()])].map((name) => ({
    name,
    before: before.get(name) ?? null,
    after: after.get(name) ?? null,
  }))
}

function sideAt(tree: Node, path: (string | number)[], text: string): Map<string, string> {
  const node = findNodeAtLocation(tree, ['entries', ...path])
  const pairs = node?.type === 'object' ? (node.children ?? []) : []
  return new Map(
    pairs.flatMap(({ children }) => {
      const [key, value] = children ?? []
      return key === undefined || value === undefined
        ? []
        : [[String(key.value), text.slice(value.offset, value.offset + value.length)]]
    }),
  )
}

export function isChanged({ before, after }: AuditField): boolean {
  return before !== after
}
