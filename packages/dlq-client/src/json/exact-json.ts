// JSON with all digits of its numbers. JSON.parse rounds 12345678901234567890.12, which payloads have, and Node 20 has no
// JSON.rawJSON; so a number is marked text while JSON.parse and JSON.stringify hold it.

/** A number of JSON that a JavaScript number would print otherwise: 12345678901234567890, 1.50, 1e400. */
export class ExactNumber {
  /** As it stood in the JSON. */
  readonly text: string

  constructor(text: string) {
    if (!number.test(text)) throw new TypeError(`not a number of JSON: ${text}`)
    this.text = text
  }

  toString(): string {
    return this.text
  }

  /** The nearest JavaScript number. */
  valueOf(): number {
    return Number(this.text)
  }

  /** JSON.stringify prints it exactly where the runtime can, and else as a text, which loses nothing. */
  toJSON(): unknown {
    return (JSON as { rawJSON?: (text: string) => unknown }).rawJSON?.(this.text) ?? this.text
  }
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Nobody can know it, so no text of a dead letter is taken for a number. */
const mark = `${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`
const marked = new RegExp(`"${mark}([^"]*)"`, 'g')

/** In the place of JSON: a number stays a number where JavaScript prints the same, and is an ExactNumber elsewhere. */
export const exactJson = {
  parse(text: string): unknown {
    const kept = text.replaceAll(token, (found) =>
      found.startsWith('"') || String(Number(found)) === found ? found : `"${mark}${found}"`,
    )
    if (kept === text) return JSON.parse(text)
    return JSON.parse(kept, (_, value: unknown) =>
      typeof value === 'string' && value.startsWith(mark) ? new ExactNumber(value.slice(mark.length)) : value,
    )
  },
  stringify(value: unknown, indent?: number): string {
    // What toJSON makes of a number is too late; its holder has it as it is.
    const text = JSON.stringify(
      value,
      function (this: Record<string, unknown>, name, one: unknown) {
        const held = this[name]
        return held instanceof ExactNumber ? `${mark}${held.text}` : one
      },
      indent,
    )
    return text.replaceAll(marked, '$1')
  },
}
