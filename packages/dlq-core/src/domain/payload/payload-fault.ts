/** Bytes that do not fit their schema, a value that does not, or a schema that cannot be used. The message is for people. */
export class PayloadFault extends Error {}
