// Bytes that the serializers of AWS Glue (1.1.23), Apicurio (2.6.5) and Avro (1.12) have written, in hexadecimal:
// infra/recipes/frames prints them.

/** A FileDescriptorProto; also as Glue's serializer writes it for its registry. */
export const orderDescriptor =
  '0a0b6f726465722e70726f746f120461636d65228c010a054f72646572120a0a026964180120012809121a0a05746f74616c18022001280b320b2e61636d652e4d6f6e6579121f0a056c696e657318032003280b32102e61636d652e4f726465722e4c696e65120d0a05636f6465731804200328051a130a044c696e65120b0a03736b751801200128091a160a0741646472657373120b0a037a697018012001280922160a054d6f6e6579120d0a0563656e7473180120012803620670726f746f33'
export const orderProto = `
syntax = "proto3";

package acme;

message Order {
  string id = 1;

  .acme.Money total = 2;

  repeated .acme.Order.Line lines = 3;

  repeated int32 codes = 4;

  message Line {
    string sku = 1;
  }

  message Address {
    string zip = 1;
  }
}

message Money {
  int64 cents = 1;
}
`

const bytes = (hex: string) => Buffer.from(hex, 'hex')

export const glueVersion = '0b1c2d3e-4f50-4612-8304-05060708090a'
/** acme.Order and acme.Order.Line, as they are and compressed. */
export const glue = {
  order: bytes('03000b1c2d3e4f504612830405060708090a010a026f311202082a1a030a0173220307ac02'),
  line: bytes('03000b1c2d3e4f504612830405060708090a030a0173'),
  packedOrder: bytes('03050b1c2d3e4f504612830405060708090a789c63e462ca371462e2d09262e6622c5662665fc30400145c0269'),
  packedLine: bytes('03050b1c2d3e4f504612830405060708090a789c63e6622c060000a30082'),
}

/** What stands behind the schema's id: with the message's name in front, and with the name in the header apicurio.protobuf.type. */
export const apicurio = {
  order: bytes('070a054f726465720a026f311202082a1a030a0173220307ac02'),
  money: bytes('070a054d6f6e6579082a'),
  moneyUnderHeader: bytes('082a'),
}
