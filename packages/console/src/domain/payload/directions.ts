// Texts whose direction changes: right-to-left letters, and the invisible characters that steer the direction. Without
// care a key and its value change places before the reader's eyes, and "abc" is read as "cba".

/** Part of a text, or the name of an invisible character. */
export type Part = { readonly text: string; readonly isName: boolean }
/** What is apart does not turn what is beside it. */
export type Piece = { readonly isApart: boolean; readonly parts: readonly Part[] }

const steering = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const tokens = /"(?:[^"\\\n]|\\.)*(?:"|$|(?=\n))/g

/** Null where the text reads from left to right, as nearly all do. Strings in quotes are apart from each other. */
export function piecesOf(text: string): Piece[] | null {
  if (!steering.test(text) && !rightToLeft.test(text)) return null
  const pieces: Piece[] = []
  const add = (text: string, isString: boolean) => {
    if (text !== '') pieces.push({ isApart: isString && rightToLeft.test(text), parts: partsOf(text) })
  }
  let at = 0
  for (const { 0: token, index } of text.matchAll(tokens)) {
    add(text.slice(at, index), false)
    add(token, true)
    at = index + token.length
  }
  add(text.slice(at), false)
  return pieces
}

/** A character that steers has no effect where it is named. */
function partsOf(text: string): Part[] {
  return text
    .split(new RegExp(`(${steering.source})`))
    .filter((part) => part !== '')
    .map((part) => (steering.test(part) ? { text: nameOf(part), isName: true } : { text: part, isName: false }))
}

/** For what has no markup, such as the title of the page: each character that steers is named. */
export function namedSteering(text: string): string {
  return text.replace(new RegExp(steering, 'g'), nameOf)
}

function nameOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
