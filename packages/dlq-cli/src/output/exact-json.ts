// JSON with all digits of its numbers. JSON.parse rounds 12345678901234567890.12, which payloads have, and Node 20 has no
// JSON.rawJSON; so a number that would be printed otherwise is text while the program holds it, and a number again when
// it is printed.
import { randomUUID } from 'node:crypto'

/** Nobody can know it, so no text of a dead letter is taken for a number. */
const mark = `${randomUUID()}:`
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')

/** JSON for JSON.parse. Numbers that the API made itself stay numbers. */
export function keepDigits(json: string): string {
  return json.replaceAll(token, (found) =>
    found.startsWith('"') || String(Number(found)) === found ? found : `"${mark}${found}"`,
  )
}

/** JSON.stringify, for what was parsed from keepDigits(). */
export function exactJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(marked, '$1')
}
