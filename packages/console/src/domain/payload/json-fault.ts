// The first fault of a JSON text, with its place, in words.

import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { isDeeperThan, isJson } from './value.ts'

export type JsonFault = {
  readonly offset: number
  /** At least 1, except at the end of an empty text. */
  readonly length: number
  /** From 1, as the column. */
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The parser calls itself for each level, and would run out of stack. */
const maxDepth = 1000

const words: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is no JSON value',
  InvalidNumberFormat: 'this is no number',
  PropertyNameExpected: 'a name in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing brace } is missing',
  CloseBracketExpected: 'a closing bracket ] is missing',
  EndOfFileExpected: 'the value has ended before this',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'the closing quote is missing',
  UnexpectedEndOfNumber: 'this number is not finished',
  InvalidUnicode: '\\u wants four hexadecimal digits',
  InvalidEscapeCharacter: 'there is no such escape',
  InvalidCharacter: 'a control character has to be escaped',
}

/** Null where the text is JSON. */
export function jsonFault(text: string): JsonFault | null {
  if (isJson(text)) return null
  if (isDeeperThan(text, maxDepth))
    return { offset: 0, length: text.length, line: 1, column: 1, message: 'this is no JSON, and too deep to say where' }
  const errors: ParseError[] = []
  parseTree(text, errors, { disallowComments: true })
  const first = errors.toSorted((a, b) => a.offset - b.offset)[0]
  // What JSON.parse refuses and the parser forgives stands nowhere; it is said of the whole text.
  if (first === undefined) return { offset: 0, length: text.length, line: 1, column: 1, message: 'this is no JSON' }
  const offset = Math.min(first.offset, Math.max(0, text.length - 1))
  const before = text.slice(0, offset).split('\n')
  return {
    ...{ offset, length: Math.max(Math.min(1, text.length), Math.min(first.length, text.length - offset)) },
    ...{ line: before.length, column: before.at(-1)!.length + 1 },
    message: words[printParseErrorCode(first.error)] ?? 'this is no JSON',
  }
}

/** "line 3, column 5: a comma is missing". */
export function faultWords({ line, column, message }: JsonFault): string {
  return `line ${line}, column ${column}: ${message}`
}
