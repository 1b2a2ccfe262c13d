// JSON as it was sent. JSON.parse rounds 12345678901234567890.12, and an edited payload must not.

import { randomInt } from 'node:crypto'

// Not in TypeScript's library yet: https://github.com/tc39/proposal-json-parse-with-source
const { rawJSON, isRawJSON } = JSON as unknown as { rawJSON(text: string): unknown; isRawJSON(value: unknown): boolean }

const quote = 0x22
const minus = 0x2d
const zero = 0x30
const nine = 0x39

/**
 * Every number is an object that JSON.stringify writes with the digits that it has in `text`.
 *
 * The numbers are quoted and marked before the text is parsed. A reviver, which is told each number's text as well, takes
 * some microseconds a value: seconds for a payload of 4 MiB, in which the service does nothing else.
 *
 * @throws SyntaxError where the text is no JSON
 */
export function parseExact(text: string): unknown {
  const mark = markMissingIn(text)
  const holder = { value: JSON.parse(withMarkedNumbers(text, mark)) as unknown }
  const open: object[] = [holder]
  const visit = (parent: object, key: string | number, value: unknown) => {
    if (typeof value === 'object' && value !== null) open.push(value)
    else if (typeof value === 'string' && value.startsWith(mark)) setMember(parent, key, numberOf(value, mark))
  }
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    if (Array.isArray(parent)) {
      for (let at = 0; at < parent.length; at++) visit(parent, at, parent[at])
      continue
    }
    for (const [name, value] of Object.entries(parent)) {
      if (name.startsWith(mark)) throw new SyntaxError('the name of a member is a number')
      visit(parent, name, value)
    }
  }
  return holder.value
}

/** The digits of a number as `parseExact` gives it; null for anything else. */
export function digitsOf(value: unknown): string | null {
  return isRawJSON(value) ? (value as { rawJSON: string }).rawJSON : null
}

/** The field at the path as JSON text, without white space, every number with the digits that it has in `text`. */
export function exactJsonOf(text: string, path: readonly string[]): string {
  return createExactJson(text)(path)
}

/** As `exactJsonOf`, for one text and several of its fields: it is parsed once, when the first is asked for. */
export function createExactJson(text: string): (path: readonly string[]) => string {
  let whole: { value: unknown } | null = null
  return (path) => {
    whole ??= { value: parseExact(text) }
    return JSON.stringify(path.reduce((value, key) => (value as Record<string, unknown>)[key], whole.value))
  }
}

/** @throws SyntaxError where what looked like a number, such as `01`, is none */
function numberOf(marked: string, mark: string): unknown {
  return rawJSON(marked.slice(mark.length))
}

/** "__proto__" is a name like any other. */
function setMember(parent: object, key: string | number, value: unknown): void {
  if (key !== '__proto__') (parent as Record<string | number, unknown>)[key] = value
  else Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true })
}

/** A few characters for private use with which no string of the text begins, written out or escaped. */
function markMissingIn(text: string): string {
  for (;;) {
    const mark = String.fromCharCode(...Array.from({ length: 3 }, () => randomInt(0xe000, 0xf900)))
    const escaped = new RegExp(`\\\\u${mark.charCodeAt(0).toString(16)}`, 'i')
    if (!text.includes(mark) && !escaped.test(text)) return mark
  }
}

function withMarkedNumbers(text: string, mark: string): string {
  const parts: string[] = []
  let copied = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, at)
      parts.push(text.slice(copied, at), '"', mark, text.slice(at, end), '"')
      copied = end
      at = end - 1
    }
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

/** The place of the closing quote; the end where there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end
  }
  return text.length
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end++
  return end
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

/** Digits, and `+`, `-`, `.`, `E`, `e`. What they make together, JSON decides. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2b || code === minus || code === 0x2e || code === 0x45 || code === 0x65
}
