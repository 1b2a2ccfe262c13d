// A member of a JSON object as it was sent: JSON.parse would round its numbers.

import { findNodeAtLocation, parseTree } from 'jsonc-parser'

/** The text of the member; null where the object has none of that name. */
export function memberText(json: string, name: string): string | null {
  const root = parseTree(json)
  const node = root && findNodeAtLocation(root, [name])
  return node ? json.slice(node.offset, node.offset + node.length) : null
}
