// The words of a .proto text (https://protobuf.dev/reference/protobuf/proto3-spec/#lexical_elements), one after the other,
// without comments.

import { PayloadFault } from '../payload-fault.ts'

export type ProtoToken = { readonly kind: 'word' | 'number' | 'text' | 'sign' | 'end'; readonly text: string }

/** Each of them takes time in proportion to what it matches. */
const blank = /[\s\uFEFF]+/y
const word = /[A-Za-z_]\w*/y
const number = /\d(?:[eE][+-]|[\w.])*|\.\d(?:[eE][+-]|\w)*/y
const plainText = /[^"'\\\n\0]+/y
const letters = new Set('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_')
const space = 0x20
const slash = 0x2f
const firstBeyondAscii = 0x80
const end: ProtoToken = { kind: 'end', text: 'its end' }

export type ProtoTokens = {
  peek(): ProtoToken
  next(): ProtoToken
  /** Takes the next one if it is this word or sign. */
  takes(text: string): boolean
  /** @throws {PayloadFault} unless the next one is this */
  expect(text: string): void
  /** A fault at the next one. */
  fault(problem: string): PayloadFault
}

export function readTokens(text: string): ProtoTokens {
  let at = 0
  let peeked: ProtoToken | null = null

  function match(pattern: RegExp): string | null {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? null
    if (found !== null) at += found.length
    return found
  }

  function passBlanks(): void {
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (code <= space || code >= firstBeyondAscii) {
        if (match(blank) === null) return
        continue
      }
      const mark = code === slash ? text.slice(at, at + 2) : ''
      if (mark !== '//' && mark !== '/*') return
      const found = text.indexOf(mark === '//' ? '\n' : '*/', at + 2)
      // Refused here: a mebibyte of beginnings would otherwise be searched to its end from each of them.
      if (found < 0 && mark === '/*') throw fault('a comment that does not end')
      at = found < 0 ? text.length : found + (mark === '//' ? 1 : 2)
    }
  }

  function scan(): ProtoToken {
    passBlanks()
    if (at >= text.length) return end
    const sign = text[at]!
    // A hostile text may be nothing but signs: no pattern is tried on them.
    if (letters.has(sign)) return { kind: 'word', text: match(word)! }
    const digits = sign === '.' || (sign >= '0' && sign <= '9') ? match(number) : null
    if (digits !== null) return { kind: 'number', text: digits }
    at += 1
    if (sign !== '"' && sign !== "'") return { kind: 'sign', text: sign }
    return { kind: 'text', text: scanText(sign) }
  }

  /** Behind the opening mark. Of escapes only those of marks and backslashes occur in names. */
  function scanText(mark: string): string {
    const parts: string[] = []
    while (true) {
      parts.push(match(plainText) ?? '')
      const sign = text[at]
      if (sign === undefined || sign === '\n' || sign === '\0') throw fault('a text that does not end')
      at += 1
      if (sign === mark) return parts.join('')
      parts.push(sign === '\\' ? (text[at++] ?? '') : sign)
    }
  }

  function fault(problem: string): PayloadFault {
    const line = text.slice(0, at).split('\n').length
    return new PayloadFault(`the .proto text has ${problem} in line ${line}`)
  }

  const tokens: ProtoTokens = {
    peek() {
      peeked ??= scan()
      return peeked
    },
    next() {
      const token = tokens.peek()
      peeked = null
      return token
    },
    takes(text) {
      const { kind, text: found } = tokens.peek()
      if (kind === 'text' || kind === 'end' || found !== text) return false
      peeked = null
      return true
    },
    expect(text) {
      if (!tokens.takes(text)) throw fault(`${shortened(tokens.peek().text)} in place of "${text}"`)
    },
    fault,
  }
  return tokens
}

const maxShown = 40

function shortened(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
