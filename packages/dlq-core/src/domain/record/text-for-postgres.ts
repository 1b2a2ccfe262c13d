// PostgreSQL's text holds every Unicode text except U+0000, and a column for people needs only
// a limited length. Headers keep the exact bytes; these functions are for the other columns.

const replacement = '\ufffd'

export const beyondStorableText = 'must be well-formed text without NUL'

/** Whether PostgreSQL's `text` holds it as it is. It must also be so to be compared with a column. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/**
 * Returns text that PostgreSQL's `text` holds: U+0000 and lone surrogates become U+FFFD
 * (Node would replace the latter anyway, and the stored text should be the one decided on),
 * and the end is cut, between characters, so that it takes at most `maxBytes` in UTF-8.
 * U+0000: https://www.postgresql.org/docs/current/datatype-character.html
 */
export function textForPostgres(text: string, maxBytes: number): string {
  // Each UTF-16 unit takes at least one byte, so none past the first maxBytes can fit. A
  // pair that this splits leaves three bytes of U+FFFD at the end, which do not fit either.
  const storable = text.slice(0, maxBytes).replaceAll('\0', replacement).toWellFormed()
  // A unit takes at most three bytes.
  if (storable.length * 3 <= maxBytes || Buffer.byteLength(storable) <= maxBytes) return storable
  const { read } = new TextEncoder().encodeInto(storable, new Uint8Array(maxBytes))
  return storable.slice(0, read)
}
