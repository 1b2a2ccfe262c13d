/** The registry has no such schema, or does not show it. */
export class NoSchema extends Error {
  readonly kind: 'missing' | 'refused'

  constructor(kind: 'missing' | 'refused', message: string) {
    super(message)
    this.kind = kind
  }
}
