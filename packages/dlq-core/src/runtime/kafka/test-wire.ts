// Shared by the tests of our kafkajs: a message as a consumer of it gets it, without a broker.

import { createRequire } from 'node:module'
import type { KafkaMessage, Message } from 'kafkajs'

const require = createRequire(import.meta.url)
const Decoder = require('kafkajs/src/protocol/decoder')
const Encoder = require('kafkajs/src/protocol/encoder')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
const encodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0')

/** The message that a consumer gets from a batch of one record. `change` edits the batch on its way. */
export async function throughTheWire(
  message: Partial<Message>,
  change = (_batch: Buffer) => {},
): Promise<KafkaMessage> {
  const record = encodeRecord({ key: null, value: null, ...message })
  const { buffer } = await RecordBatch({ records: [record], firstTimestamp: 1000, maxTimestamp: 2000 })
  change(buffer)
  const [received] = await decodeMessages(new Decoder(new Encoder().writeBytes(buffer).buffer))
  return received
}
