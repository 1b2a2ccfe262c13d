// Hides places of a JSON text, in one scan of it. Parsing it and writing it with every digit takes twice as long, and JSON.parse would round
// numbers; a scan copies what it does not hide, digit by digit.

import type { PathState } from './mask-paths.ts'

/** What stands in place of whatever is hidden. */
export const hiddenMark = '•••'
const hiddenJson = JSON.stringify(hiddenMark)

/** Pointers of hidden places that are named; `*` stands for every position of a list. */
const maxNamed = 100

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

type Trail = { readonly parent: Trail | null; readonly step: string } | null

/**
 * The text with `"•••"` in place of what the state hides, and the pointers of these places, a hundred at most. A member of
 * a hidden place goes with it; the names of members beside shown ones stay.
 *
 * @throws SyntaxError where the text is no JSON
 */
export function maskJson(text: string, root: PathState): { json: string; hidden: string[] } {
  const parts: string[] = []
  const hidden = new Set<string>()
  let copied = 0
  let at = 0

  const hide = (trail: Trail) => {
    const start = at
    at = endOfValue(text, start)
    parts.push(text.slice(copied, start), hiddenJson)
    copied = at
    if (hidden.size < maxNamed) hidden.add(pointerOf(trail))
  }
  const value = (state: PathState, trail: Trail) => {
    skipSpace()
    const first = text.charCodeAt(at)
    if (state.hidden) hide(trail)
    else if (state.clear) at = endOfValue(text, at)
    else if (first === openBrace) members(state, trail)
    else if (first === openBracket) elements(state, trail)
    else if (state.leafHidden) hide(trail)
    else at = endOfValue(text, at)
  }
  const members = (state: PathState, trail: Trail) => {
    at++
    skipSpace()
    if (text.charCodeAt(at) === closeBrace) return void at++
    for (;;) {
      skipSpace()
      if (text.charCodeAt(at) !== quote) throw noJson()
      const end = endOfString(text, at)
      const raw = text.slice(at + 1, end)
      const name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
      at = end + 1
      skipSpace()
      if (text[at++] !== ':') throw noJson()
      value(state.member(name), { parent: trail, step: name })
      skipSpace()
      const next = text.charCodeAt(at++)
      if (next === closeBrace) return
      if (next !== comma) throw noJson()
    }
  }
  const elements = (state: PathState, trail: Trail) => {
    at++
    skipSpace()
    if (text.charCodeAt(at) === closeBracket) return void at++
    for (;;) {
      value(state.element(), { parent: trail, step: '*' })
      skipSpace()
      const next = text.charCodeAt(at++)
      if (next === closeBracket) return
      if (next !== comma) throw noJson()
    }
  }
  const skipSpace = () => {
    while (isSpace(text.charCodeAt(at))) at++
  }

  value(root, null)
  skipSpace()
  if (at !== text.length) throw noJson()
  return { json: copied === 0 ? text : parts.join('') + text.slice(copied), hidden: [...hidden] }
}

/** The JSON text of a hidden value. */
export const hiddenValue: { json: string; hidden: string[] } = { json: hiddenJson, hidden: [''] }

function pointerOf(trail: Trail): string {
  const steps: string[] = []
  for (let here = trail; here !== null; here = here.parent) steps.push(here.step)
  return steps
    .reverse()
    .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
}

function endOfValue(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === quote) return endOfString(text, start) + 1
  if (first !== openBrace && first !== openBracket) {
    let end = start
    while (end < text.length && !isEnd(text.charCodeAt(end))) end++
    if (end === start) throw noJson()
    return end
  }
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openBrace || code === openBracket) depth++
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return at + 1
  }
  throw noJson()
}

/** The place of the closing quote. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end
  }
  throw noJson()
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

function isEnd(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || isSpace(code)
}

function noJson(): SyntaxError {
  return new SyntaxError('the value is no JSON')
}
