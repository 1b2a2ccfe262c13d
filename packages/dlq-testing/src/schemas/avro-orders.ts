// An Avro schema and values of it in Confluent's frame, byte for byte as the serializers write them.

export const orderSchema = JSON.stringify({
  type: 'record',
  name: 'Order',
  namespace: 'com.example',
  fields: [
    { name: 'id', type: 'string' },
    { name: 'cents', type: 'long' },
    { name: 'note', type: ['null', 'string'], default: null },
  ],
})

/** {"id": id, "cents": cents, "note": null}, for ids of less than 64 bytes and cents below 64. */
export function orderBytes(schemaId: number, id: string, cents: number): Buffer {
  const frame = Buffer.alloc(5)
  frame.writeInt32BE(schemaId, 1)
  return Buffer.concat([frame, Buffer.from([id.length * 2]), Buffer.from(id), Buffer.from([cents * 2, 0])])
}
