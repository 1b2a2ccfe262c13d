/** Bytes that do not fit their schema, a value that does not, or a schema that cannot be used. The message is for people. */
export class PayloadFault extends Error {}

/** Refuses a value of JSON that cannot be written. `path`: a JSON Pointer. */
export function refuse(path: string, wanted: string): never {
  throw new PayloadFault(`${path === '' ? 'the value' : path} must be ${wanted}`)
}
