// The value that an error speaks of: where somebody who opens the message begins to change it.

import { type Node, parseTree } from 'jsonc-parser'
import { isJson, maxLayoutChars } from './value.ts'

/** Where it stands in the text; null where the text is no JSON, or the error names none of its fields and values. */
export function suspectIn(text: string, error: string): { from: number; to: number } | null {
  if (text.length > maxLayoutChars || !isJson(text)) return null
  const tree = parseTree(text)
  if (tree === undefined) return null
  let best: { score: number; node: Node } | null = null
  for (const { name, node } of leavesOf(tree)) {
    const written = text.slice(node.offset, node.offset + node.length).replace(/^"|"$/g, '')
    // A field that is named says more than a value, which may stand there by chance; both together say most.
    const score = (name !== null && names(error, name) ? 3 : 0) + (written.length > 1 && names(error, written) ? 2 : 0)
    if (score > (best?.score ?? 0)) best = { score, node }
  }
  return best === null ? null : { from: best.node.offset, to: best.node.offset + best.node.length }
}

type Named = { name: string | null; node: Node }

/** In their order. With a stack of its own, because a value of strangers may be thousands of lists deep. */
function* leavesOf(tree: Node): Generator<Named> {
  const left: Named[] = [{ name: null, node: tree }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { name, node } = next
    if (node.type !== 'object' && node.type !== 'array') yield next
    for (const child of node.children?.toReversed() ?? [])
      left.push(
        node.type === 'array'
          ? { name, node: child }
          : { name: String(child.children![0]!.value), node: child.children![1]! },
      )
  }
}

/** As a word of its own: "order" is not named by "orders". */
function names(error: string, word: string): boolean {
  for (let at = error.indexOf(word); at >= 0 && word !== ''; at = error.indexOf(word, at + 1)) {
    const [before, after] = [error[at - 1] ?? ' ', error[at + word.length] ?? ' ']
    if (!/[\p{L}\p{N}_]/u.test(before) && !/[\p{L}\p{N}_]/u.test(after)) return true
  }
  return false
}
