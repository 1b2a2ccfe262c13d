// A JSON Patch (RFC 6902) from two JSON texts: what somebody changed by hand, for all others. Values stay text, so their
// digits are those that were typed.

import { type Node, parseTree } from 'jsonc-parser'
import { isDeeperThan, isJson } from './value.ts'

export type PatchLine = {
  readonly op: 'add' | 'remove' | 'replace' | 'test'
  readonly path: string
  /** JSON, as it was written. */
  readonly value?: string
}

/** Far below where the stack ends, and far above what people write. */
const maxDepth = 500

/** Null where one of the texts is no JSON, is nested too deep, or repeats a name, so that no path says which one is meant. */
export function patchFromTexts(before: string, after: string): PatchLine[] | null {
  // The parser forgives faults; a patch of a broken text would be another change than the one that was made.
  if (!isJson(before) || !isJson(after)) return null
  if (isDeeperThan(before, maxDepth) || isDeeperThan(after, maxDepth)) return null
  const [from, to] = [parseTree(before), parseTree(after)]
  if (from === undefined || to === undefined || repeatsName(from) || repeatsName(to)) return null
  const lines: PatchLine[] = []
  compare(from, to, '', { before, after, lines })
  return lines
}

type Texts = { readonly before: string; readonly after: string; readonly lines: PatchLine[] }

function compare(from: Node, to: Node, path: string, texts: Texts): void {
  const text = (node: Node, whole: string) => whole.slice(node.offset, node.offset + node.length)
  if (from.type === 'object' && to.type === 'object') {
    compareObjects(from, to, path, texts)
    return
  }
  if (from.type === 'array' && to.type === 'array' && from.children?.length === to.children?.length) {
    from.children?.forEach((child, at) => {
      compare(child, to.children![at]!, `${path}/${at}`, texts)
    })
    return
  }
  const [old, now] = [text(from, texts.before), text(to, texts.after)]
  if (compact(old) !== compact(now)) texts.lines.push({ op: 'replace', path, value: now })
}

function compareObjects(from: Node, to: Node, path: string, texts: Texts): void {
  const [olds, nows] = [membersOf(from), membersOf(to)]
  for (const [name, value] of olds) {
    const now = nows.get(name)
    if (now === undefined) texts.lines.push({ op: 'remove', path: `${path}/${pointerPart(name)}` })
    else compare(value, now, `${path}/${pointerPart(name)}`, texts)
  }
  for (const [name, value] of nows) {
    if (olds.has(name)) continue
    const text = texts.after.slice(value.offset, value.offset + value.length)
    texts.lines.push({ op: 'add', path: `${path}/${pointerPart(name)}`, value: text })
  }
}

function membersOf(node: Node): Map<string, Node> {
  return new Map((node.children ?? []).map(({ children }) => [String(children![0]!.value), children![1]!]))
}

function repeatsName(node: Node): boolean {
  if (node.type === 'object' && membersOf(node).size !== node.children?.length) return true
  return (node.children ?? []).some(repeatsName)
}

/** Without white space between tokens. */
function compact(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|\s+/gs, (token) => (token.startsWith('"') ? token : ''))
}

/** A name as a part of a JSON Pointer (RFC 6901). */
function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The same lines, each only where the value is what it was in `before`: what is added is added in any case. */
export function withTests(lines: readonly PatchLine[], before: string): PatchLine[] {
  const tree = parseTree(before)
  return lines.flatMap((line) => {
    const node = line.op === 'add' || tree === undefined ? undefined : nodeAt(tree, line.path)
    if (node === undefined) return [line]
    return [{ op: 'test', path: line.path, value: before.slice(node.offset, node.offset + node.length) }, line]
  })
}

function nodeAt(tree: Node, path: string): Node | undefined {
  return path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Node | undefined>(
      (node, part) => (node?.type === 'array' ? node.children?.[Number(part)] : node && membersOf(node).get(part)),
      tree,
    )
}

/** The patch as JSON, for the API. */
export function patchText(lines: readonly PatchLine[]): string {
  return `[${lines.map(({ op, path, value }) => `{"op":"${op}","path":${JSON.stringify(path)}${value === undefined ? '' : `,"value":${value}`}}`).join(',')}]`
}

/** The lines of a patch as it stands in a draft; null where the text is none. */
export function readPatch(text: string): PatchLine[] | null {
  if (!isJson(text)) return null
  const tree = parseTree(text)
  if (tree?.type !== 'array') return null
  return (tree.children ?? []).map((node) => {
    const members = membersOf(node)
    const value = members.get('value')
    return {
      op: String(members.get('op')?.value) as PatchLine['op'],
      path: String(members.get('path')?.value),
      ...(value === undefined ? {} : { value: text.slice(value.offset, value.offset + value.length) }),
    }
  })
}

/** "replace /amount with 5", "only where /currency is \"EUR\"". */
export function patchWords({ op, path, value }: PatchLine): string {
  if (op === 'test') return `only where ${path} is ${value}`
  if (op === 'remove') return `remove ${path}`
  return op === 'add' ? `add ${path}: ${value}` : `replace ${path || 'the whole value'} with ${value}`
}
