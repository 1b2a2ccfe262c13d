// JSON text under construction, as the bytes of its UTF-8. Texts of the encoded value are copied as they are, and the whole
// becomes one JavaScript string at the end: a string for each part, and joining them, takes twice as long.

const firstBytes = 64 * 1024
/** A larger buffer is given back. */
const keptBytes = 256 * 1024
/** Shorter texts are copied byte by byte: a call of a native function takes longer. */
const shortBytes = 48

const quote = 0x22
const backslash = 0x5c

export class JsonOutput {
  #bytes = Buffer.allocUnsafeSlow(firstBytes)
  #at = 0

  /** JSON text as it is, without lone surrogates. */
  text(text: string): void {
    const { length } = text
    this.#reserve(length)
    const bytes = this.#bytes
    let at = this.#at
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index)
      if (code >= 0x80 || length > shortBytes) {
        this.#write(text)
        return
      }
      bytes[at++] = code
    }
    this.#at = at
  }

  /** One character of ASCII. */
  character(code: number): void {
    this.#reserve(1)
    this.#bytes[this.#at] = code
    this.#at += 1
  }

  /** A string from its UTF-8; bytes that are none become U+FFFD. Returns the bytes that it took. */
  string(source: Buffer, start: number, end: number): number {
    const from = this.#at
    this.#reserve(end - start + 2)
    const bytes = this.#bytes
    let at = from
    bytes[at++] = quote
    for (let index = start; index < end; index += 1) {
      const byte = source[index]!
      if (byte < 0x20 || byte === quote || byte === backslash) return this.#escaped(source, start, end)
      bytes[at++] = byte
    }
    bytes[at++] = quote
    this.#at = at
    return at - from
  }

  /** The whole text. The next one may be begun. */
  end(): string {
    const text = this.#bytes.toString('utf8', 0, this.#at)
    this.begin()
    return text
  }

  begin(): void {
    this.#at = 0
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafeSlow(firstBytes)
  }

  #escaped(source: Buffer, start: number, end: number): number {
    const from = this.#at
    this.#write(JSON.stringify(source.toString('utf8', start, end)))
    return this.#at - from
  }

  #write(text: string): void {
    this.#reserve(Buffer.byteLength(text))
    this.#at += this.#bytes.write(text, this.#at)
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + length))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}
