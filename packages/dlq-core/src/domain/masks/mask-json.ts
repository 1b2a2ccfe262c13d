// Hides places of a JSON text, in one scan of it. Parsing it and writing it with every digit takes twice as long, and JSON.parse would round
// numbers; a scan copies what it does not hide, digit by digit.

import { pointerStep } from '../record/json-patch.ts'
import type { PathState } from './mask-paths.ts'

/** What stands in place of whatever is hidden. */
export const hiddenMark = '•••'
const hiddenJson = JSON.stringify(hiddenMark)

/** Pointers of hidden places that are named; `*` stands for every position of a list. */
const maxNamed = 100

/** Texts of a value that are looked into, which takes some ten microseconds each. Further ones are hidden. */
const maxTexts = 5000

const space = 0x20
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** In characters. */
const shortString = 24

/** The way to a container. All elements of a list share one, so that a place in them is named once. */
type Trail = { readonly parent: Trail | null; readonly step: string; named: Set<string> | null }

/**
 * The text with `"•••"` in place of what the state hides, and the pointers of these places, a hundred at most. A member of
 * a hidden place goes with it; the names of members beside shown ones stay. A text that holds JSON itself is masked like
 * the value that it holds, and named as one place.
 *
 * @throws SyntaxError where the text is no JSON
 */
export function maskJson(text: string, root: PathState, lookedInto = { texts: 0 }): { json: string; hidden: string[] } {
  const parts: string[] = []
  const hidden = new Set<string>()
  let copied = 0
  let at = 0

  const hide = (parent: Trail | null, step: string, by = hiddenJson) => {
    const start = at
    at = endOfValue(text, start)
    parts.push(text.slice(copied, start), by)
    copied = at
    if (parent?.named?.has(step) || hidden.size >= maxNamed) return
    hidden.add(parent === null ? '' : pointerOf(parent, step))
    if (parent === null) return
    parent.named ??= new Set()
    parent.named.add(step)
  }
  const value = (state: PathState, parent: Trail | null, step: string, here?: Trail) => {
    skipSpace()
    const first = text.charCodeAt(at)
    if (state.hidden) hide(parent, step)
    else if (state.clear) at = endOfValue(text, at)
    else if (first === openBrace) members(state, here ?? { parent, step, named: null })
    else if (first === openBracket) elements(state, here ?? { parent, step, named: null })
    else if (state.leafHidden) hide(parent, step)
    else if (first === quote && mayBeginJson(text.charCodeAt(at + 1))) textValue(state, parent, step)
    else at = endOfValue(text, at)
  }
  const textValue = (state: PathState, parent: Trail | null, step: string) => {
    if (lookedInto.texts++ >= maxTexts) return hide(parent, step)
    const end = endOfString(text, at) + 1
    const raw = text.slice(at + 1, end - 1)
    const held = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
    const masked = heldJson(held) === undefined ? null : maskJson(held, state, lookedInto)
    if (masked !== null && masked.hidden.length > 0) hide(parent, step, JSON.stringify(masked.json))
    else at = end
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
      value(state.member(name), trail, name)
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
    const element = state.element()
    const inner: Trail = { parent: trail, step: '*', named: null }
    for (;;) {
      value(element, trail, '*', inner)
      skipSpace()
      const next = text.charCodeAt(at++)
      if (next === closeBracket) return
      if (next !== comma) throw noJson()
    }
  }
  const skipSpace = () => {
    // Most often there is none: no character below is part of a value.
    while (text.charCodeAt(at) <= space && isSpace(text.charCodeAt(at))) at++
  }

  value(root, null, '')
  skipSpace()
  if (at !== text.length) throw noJson()
  return { json: copied === 0 ? text : parts.join('') + text.slice(copied), hidden: [...hidden] }
}

/** The object or list that a text is the JSON of; undefined where it is none. */
export function heldJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as object
  } catch {
    return undefined
  }
}

/** The JSON text of a hidden value. */
export const hiddenValue: { json: string; hidden: string[] } = { json: hiddenJson, hidden: [''] }

function pointerOf(parent: Trail, step: string): string {
  const steps = [step]
  // The outermost container is the value itself.
  for (let here = parent; here.parent !== null; here = here.parent) steps.push(here.step)
  return steps
    .reverse()
    .map((step) => `/${pointerStep(step)}`)
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
  // Most are short, and a search for the quote costs more to begin than to look at some characters.
  for (let at = start + 1; at < start + shortString; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) break
  }
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

/** The first character of a text as it is written in JSON. */
function mayBeginJson(code: number): boolean {
  return code === openBrace || code === openBracket || code === backslash || isSpace(code)
}

function isEnd(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || isSpace(code)
}

function noJson(): SyntaxError {
  return new SyntaxError('the value is no JSON')
}
