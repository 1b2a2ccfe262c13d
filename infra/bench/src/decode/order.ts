// An order of a shop, about as large as people's are.

const line = (n: number) => ({
  sku: `SKU-${1000 + n}`,
  title: `Thing number ${n} in a box`,
  quantity: n + 1,
  price: `${10 + n}.${50 + n}`,
  discount: n % 2 === 0 ? null : 0.125,
})

export const orderJson = JSON.stringify({
  id: '0198c1f2-7a3b-7c4d-9e5f-0123456789ab',
  customer: { id: 90_210_445, name: 'Maria Müller', email: 'maria.mueller@example.com', tier: 'GOLD' },
  created_at: '2026-02-20T10:30:00.123Z',
  lines: Array.from({ length: 10 }, (_, n) => line(n)),
  attributes: { channel: 'web', campaign: 'spring-sale', locale: 'de-DE', session: 'f3a9c1d2e4b5' },
  shipping: { street: 'Long Street 17', city: 'Springfield', zip: '12345', lat: 48.137154, lon: 11.576124 },
  note: 'Please leave the parcel with the neighbours if nobody opens the door.',
})

const record = (name: string, fields: Record<string, unknown>) => ({
  type: 'record',
  name,
  fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
})

export const orderSchema = JSON.stringify(
  record('Order', {
    id: 'string',
    customer: record('Customer', {
      id: 'long',
      name: 'string',
      email: 'string',
      tier: { type: 'enum', name: 'Tier', symbols: ['SILVER', 'GOLD'] },
    }),
    created_at: { type: 'long', logicalType: 'timestamp-millis' },
    lines: {
      type: 'array',
      items: record('Line', {
        sku: 'string',
        title: 'string',
        quantity: 'int',
        price: { type: 'bytes', logicalType: 'decimal', precision: 10, scale: 2 },
        discount: ['null', 'double'],
      }),
    },
    attributes: { type: 'map', values: 'string' },
    shipping: record('Address', { street: 'string', city: 'string', zip: 'string', lat: 'double', lon: 'double' }),
    note: ['null', 'string'],
  }),
)

export const orderProto = `
syntax = "proto3";
package bench;
import "google/protobuf/timestamp.proto";
message Order {
  string id = 1;
  message Customer { int64 id = 1; string name = 2; string email = 3; Tier tier = 4; }
  enum Tier { SILVER = 0; GOLD = 1; }
  Customer customer = 2;
  google.protobuf.Timestamp created_at = 3 [json_name = "created_at"];
  message Line { string sku = 1; string title = 2; int32 quantity = 3; string price = 4; optional double discount = 5; }
  repeated Line lines = 4;
  map<string, string> attributes = 5;
  message Address { string street = 1; string city = 2; string zip = 3; double lat = 4; double lon = 5; }
  Address shipping = 6;
  string note = 7;
}
`
