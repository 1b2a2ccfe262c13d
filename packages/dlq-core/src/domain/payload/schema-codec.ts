// What a schema is good for: reading bytes as JSON text, and writing them back.

export type SchemaCodec = {
  /** @throws {PayloadFault} unless the bytes from `at` to the end are one value */
  read(bytes: Buffer, at: number): string
  /** In place of the value that begins at `at`. @throws {PayloadFault} where the JSON text does not fit the schema */
  write(json: string, bytes: Buffer, at: number): Buffer
  /** Where the value itself begins, if something more stands before it. */
  bodyAt?(bytes: Buffer, at: number): number
  /** Why JSON text that can be written does not fit the schema all the same, with the path; null where it does. */
  violationOf?(json: string): string | null
}
