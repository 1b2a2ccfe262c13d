// The bytes of an encoded value, with what reading them may cost: few bytes can declare many values.

import { maxDecodedText, maxDepth, maxNodes } from '../payload-bounds.ts'
import { PayloadFault } from '../payload-fault.ts'

export class BoundedInput {
  readonly bytes: Buffer
  at: number
  #nodes = 0
  #text = 0
  #depth = 0

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes
    this.at = at
  }

  /** Before `nodes` values are read, whose text has at least `text` characters. */
  spend(nodes: number, text: number): void {
    this.#nodes += nodes
    this.#text += text
    if (this.#nodes > maxNodes) throw new PayloadFault(`it holds more than ${maxNodes} values`)
    if (this.#text > maxDecodedText) throw new PayloadFault(`its text is longer than ${maxDecodedText} characters`)
  }

  enter(): void {
    this.#depth += 1
    if (this.#depth > maxDepth) throw new PayloadFault(`it is nested deeper than ${maxDepth} levels`)
  }

  leave(): void {
    this.#depth -= 1
  }

  byte(): number {
    if (this.at >= this.bytes.length) throw new PayloadFault('it ends too early')
    return this.bytes[this.at++]!
  }

  /** The offset of the next `length` bytes, which are then behind. */
  take(length: number): number {
    const start = this.at
    if (length > this.bytes.length - start) throw new PayloadFault('it ends too early')
    this.at = start + length
    return start
  }

  /** @throws {PayloadFault} unless every byte was used */
  end(): void {
    const rest = this.bytes.length - this.at
    if (rest > 0) throw new PayloadFault(`${rest} bytes are left over`)
  }
}
