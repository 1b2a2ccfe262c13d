// An error message without what differs from one occurrence to the next, so that messages
// of one cause compare equal. One combined alternation, most specific first, after Sentry's
// grouping/parameterization.py: what an earlier pattern has taken, no later one sees.

/** A longer message tells no more about its cause. */
const scannedChars = 2048

/** Far below the scanned length, so that the cut of a long message changes nothing. */
const keptChars = 512

/** A pattern and its replacement; null keeps the text. No pattern has a capturing group. */
type Pattern = readonly [pattern: RegExp, placeholder: string | null]

// Every repetition is bounded, and most patterns refuse to start where they would have started
// before: the time is linear in the text, whatever the text.

/** Patterns that start anywhere but after a letter. Inside words, that one test spares the time of all of them. */
const atWordStart: readonly Pattern[] = [
  // Codes tell failures apart: 404 is not 503.
  [
    /\b(?:HTTP(?:\/[\d.]{1,4})?|status(?: ?code)?|SQL ?state|errno|(?:error|exit|vendor) ?code|exited with)[ :=([]{0,3}\d{1,5}\b/i,
    null,
  ],
  [/\b(?:ORA|SQL|TNS|PLS)-\d{4,5}\b/, null],
  [/(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/, '<email>'],
  [/\b[a-z][a-z\d+-]{1,15}(?::[a-z]{1,15}){0,2}:\/\/[^\s"'<>`]{1,2048}/i, '<url>'],
  [/\b[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}\b/, '<traceparent>'],
  [/\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/i, '<uuid>'],
  // A ULID, in Crockford's base 32.
  [/\b[0-7][\dA-HJKMNP-TV-Z]{25}\b/, '<uuid>'],
  // ISO 8601 and RFC 3339, with Java's zone names.
  [
    /(?<![\w-])\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?)?(?:\[[\w/]{1,32}\])?/,
    '<date>',
  ],
  // As Java's Date and Unix print it: Mon Jan 05 10:11:12 CET 2026.
  [
    /\b(?:[MTWFS][a-z]{2},? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{1,2}(?:,? \d{4})? \d\d:\d\d:\d\d(?: [A-Z]{2,4}\b)?(?: \d{4}\b)?/,
    '<date>',
  ],
  [/(?<![\w:])\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?![\w:])/, '<date>'],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|\/\d{1,2})?(?!\w|\.\d)/, '<ip>'],
  [/(?<![\w:])\[?(?:[\da-f]{1,4}:){7}[\da-f]{1,4}\b\]?(?::\d{1,5})?/i, '<ip>'],
  [/(?<![\w:])\[?(?:[\da-f]{1,4}:){1,6}(?::[\da-f]{1,4}){1,6}\b\]?(?::\d{1,5})?/i, '<ip>'],
  // Only lower case with a usual ending: com.acme.OrderService is no host.
  [
    /(?<![\w.-])(?:localhost|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){0,6}\.(?:com|net|org|io|cloud|local|internal|svc|lan|corp))(?![\w-]|\.\w)(?::\d{1,5})?/,
    '<host>',
  ],
  // MD5, SHA-1, SHA-256.
  [/\b(?:[\da-f]{32}|[\da-f]{40}|[\da-f]{64})\b/i, '<hash>'],
  // ISO 8601, then as Go and people write it.
  [/\bPT?\d{1,9}(?:[\dYMWDTHS.]{0,30}[YMWDHS])\b/, '<duration>'],
  [/(?<![\w.])(?:\d{1,20}(?:\.\d{1,9})?(?:ns|us|µs|ms|[smhd])){1,5}(?!\w)/, '<duration>'],
  [
    /(?<![\w.])\d{1,20}(?:\.\d{1,9})? (?:ns|us|µs|ms|millis|(?:nano|micro|milli)?sec(?:ond)?s?|min(?:ute)?s?|hours?|days?)\b/i,
    '<duration>',
  ],
  [/\b0x[\da-f]{1,64}\b/i, '<hex>'],
  // Eight or more digits and letters mixed; letters alone may be a word.
  [/(?<!\d)(?=[a-f]{0,63}\d)(?=\d{0,63}[a-f])[\da-f]{8,128}(?![A-Za-z\d])/i, '<hex>'],
  // An apostrophe inside a word is no quote.
  [/(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w)){0,512}'(?!\w)/, '<str>'],
  [/(?<!\d)(?:(?<![\w)\]])[+-])?\d{1,64}(?:[.,]\d{1,64}){0,8}(?:e[+-]?\d{1,4})?(?![A-Za-z\d])/i, '<num>'],
]

const anywhere: readonly Pattern[] = [
  // An object's identity, as in com.acme.Order@1b2c3d.
  [/(?<=[\w)\]])@[\da-f]{4,16}\b/, '@<hex>'],
  [/"[^"\n]{0,512}"|`[^`\n]{0,512}`|“[^“”\n]{0,512}”|«[^«»\n]{0,512}»/, '<str>'],
  // order12345, but not utf8 or v2.
  [/\d{4,2048}/, '<num>'],
]

const combined = new RegExp(`(?<![A-Za-z])(?:${alternation(atWordStart)})|${alternation(anywhere)}`, 'g')

/** In the order of the combined pattern's groups. */
const placeholders = [...atWordStart, ...anywhere].map(([, placeholder]) => placeholder)

function alternation(patterns: readonly Pattern[]): string {
  return patterns.map(([{ source, flags }]) => `(${flags === '' ? source : `(?${flags}:${source})`})`).join('|')
}

/**
 * Returns at most 512 characters of the message on one line, with `<uuid>`, `<num>`,
 * `<date>`, `<str>` (for anything in quotes) and their like in place of values. A stack
 * trace inside the message ends it. Reads 2 KB at most. PostgreSQL's text can hold what
 * comes out.
 */
export function normaliseMessage(message: string): string {
  const traceAt = message.slice(0, scannedChars).search(/\n\s{0,8}at \S/)
  return message
    .slice(0, traceAt === -1 ? scannedChars : traceAt)
    .replace(combined, placeholderFor)
    .replace(/[\s\0]{2,}|[^\S ]|\0/g, ' ')
    .trim()
    .slice(0, keptChars)
    .toWellFormed()
}

function placeholderFor(match: string, ...groups: unknown[]): string {
  return placeholders[groups.findIndex((group) => group !== undefined)] ?? match
}
