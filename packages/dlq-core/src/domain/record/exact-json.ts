// JSON as it was sent. JSON.parse rounds 12345678901234567890.12, and an edited payload must not.

type RawJson = {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}
// Not in TypeScript's library yet: https://github.com/tc39/proposal-json-parse-with-source
const { parse, rawJSON } = JSON as unknown as RawJson

/** Every number is an object that JSON.stringify writes with the digits that it has in `text`. */
export function parseExact(text: string): unknown {
  return parse(text, (_, value, { source }) => (typeof value === 'number' ? rawJSON(source!) : value))
}

/** The field at the path as JSON text, without white space, every number with the digits that it has in `text`. */
export function exactJsonOf(text: string, path: readonly string[]): string {
  return JSON.stringify(path.reduce((value, key) => (value as Record<string, unknown>)[key], parseExact(text)))
}
