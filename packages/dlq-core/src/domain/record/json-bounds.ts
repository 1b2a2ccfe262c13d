// What a JSON text may consist of. Looked at before it is parsed: 6 MB of "[1,1,…" kept the API from answering anybody for
// seconds, 800 KB that were patched for six, and a million brackets overflowed the stack.

/** As deep as a payload may be (payload-projection.ts). */
const maxDepth = 1000
/** Parsing and checking so many takes some ten milliseconds, whatever they are. */
const maxValuesOfBody = 100_000

const quote = 0x22
const backslash = 0x5c

/** 1: a value begins behind it. 2: opens. 3: closes. */
const kinds = new Uint8Array(256)
for (const byte of Buffer.from(',:')) kinds[byte] = 1
for (const byte of Buffer.from('[{')) kinds[byte] = 2
for (const byte of Buffer.from(']}')) kinds[byte] = 3

/**
 * Why the text is not to be parsed; null where it may be. Whether it is JSON at all, the parser finds out.
 *
 * @param what what the text is, for the reason: "the body"
 */
export function beyondJsonBounds(json: Buffer, what: string, maxValues = maxValuesOfBody): string | null {
  let depth = 0
  let values = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!
    if (byte === quote) {
      at = endOfString(json, at)
      continue
    }
    const kind = kinds[byte]!
    if (kind === 0) continue
    if (kind === 3) {
      depth--
      continue
    }
    if (kind === 2 && ++depth > maxDepth) return `${what} is nested deeper than ${maxDepth} levels`
    if (++values > maxValues) return `${what} consists of more than ${maxValues} values`
  }
  return null
}

/** The place of the closing quote; the end where there is none. */
function endOfString(json: Buffer, start: number): number {
  for (let end = json.indexOf(quote, start + 1); end !== -1; end = json.indexOf(quote, end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return end
  }
  return json.length
}
