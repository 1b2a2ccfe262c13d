// What a schema is good for: reading bytes as JSON text, and writing them back.

/**
 * Where a value of Protobuf says which of its schema's messages it is. `indexes`: Confluent's, before the value; in
 * `header`, where the schema's id stands in a header. `number`: AWS Glue's, before the value. `name`: Apicurio's, before
 * the value or, as `named`, in a header.
 */
export type MessageMark =
  | { readonly kind: 'indexes'; readonly header?: Buffer }
  | { readonly kind: 'number' }
  | { readonly kind: 'name'; readonly named: string | null }

/** `mark` is Confluent's, where nothing else is said, and means nothing to other formats than Protobuf. */
export type SchemaCodec = {
  /** @throws {PayloadFault} unless the bytes from `at` to the end are one value */
  read(bytes: Buffer, at: number, mark?: MessageMark): string
  /** In place of the value that begins at `at`. @throws {PayloadFault} where the JSON text does not fit the schema */
  write(json: string, bytes: Buffer, at: number, mark?: MessageMark): Buffer
  /** Where the value itself begins, if something more stands before it. */
  bodyAt?(bytes: Buffer, at: number, mark?: MessageMark): number
  /** Why JSON text that can be written does not fit the schema all the same, with the path; null where it does. */
  violationOf?(json: string): string | null
}
