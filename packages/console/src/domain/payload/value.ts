// What the bytes of a value are: JSON, text, or bytes. They are shown as they are; laying out changes white space only.

export type ReadValue =
  | { readonly kind: 'json' | 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly why: string }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function readValue(bytes: Uint8Array): ReadValue {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return { kind: 'bytes', why: 'the bytes are no UTF-8 text' }
  }
  if (isJson(text)) return { kind: 'json', text }
  // Control characters other than tab and line ends: somebody's own format.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text))
    return { kind: 'bytes', why: 'the text has control characters' }
  return { kind: 'text', text }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Above this, laying out would hold up the page: a worker does it. */
export const maxLayoutChars = 256 * 1024
/** Above this nobody reads it; the text is shown as it came. */
export const maxWorkerChars = 4 * 1024 * 1024
/** Lists of small things in deep lists become many times their size. */
const maxLaidOutChars = 32 * 1024 * 1024

/** What is deeper is indented no further: a few kilobytes of brackets would become megabytes of white space. */
const maxIndents = 32
const indents = Array.from({ length: maxIndents + 1 }, (_, depth) => `\n${'  '.repeat(depth)}`)
const jsonTokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/**
 * JSON on several lines. Every digit, escape, duplicate and order stays; broken JSON stays altogether. One pass over the
 * tokens: applying the edits of jsonc-parser copies the text for each, which takes 6 s for 250 kB.
 */
export function layOut(text: string, most = maxLayoutChars): string {
  if (text.length > most || !isJson(text)) return text
  let laidOut = ''
  let depth = 0
  let before = ''
  for (const [token] of text.matchAll(jsonTokens)) {
    const closes = token === '}' || token === ']'
    if (closes) depth -= 1
    const opened = before === '{' || before === '['
    if (closes ? !opened : opened || before === ',') laidOut += indents[Math.min(depth, maxIndents)]
    laidOut += token === ':' ? ': ' : token
    if (token === '{' || token === '[') depth += 1
    before = token
    if (laidOut.length > maxLaidOutChars) return text
  }
  return laidOut
}

/** Whether JSON is nested deeper: what walks its tree by calls would run out of stack. */
export function isDeeperThan(text: string, most: number): boolean {
  let depth = 0
  for (const [token] of text.matchAll(jsonTokens)) {
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
    if (depth > most) return true
  }
  return false
}

/** Back on one line, without white space between tokens, for a value that came so. */
export function onOneLine(text: string): string {
  if (!isJson(text)) return text
  return text.replace(/"(?:[^"\\]|\\.)*"|\s+/gs, (token) => (token.startsWith('"') ? token : ''))
}

/** Whether it came on one line without white space, so that it can go back to exactly that. */
export function cameOnOneLine(text: string): boolean {
  return isJson(text) && onOneLine(text) === text
}

/** Confluent's framing: a zero byte, four bytes of schema id, the rest. Null where the value has none. */
export function confluentSchemaId(bytes: Uint8Array): number | null {
  if (bytes.length < 5 || bytes[0] !== 0) return null
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
}
