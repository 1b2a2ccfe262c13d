// The consumer of infra/docs/recipes/kafkajs.md. It fails at each order that is not a retry.
import { deadLetter } from 'dlq-client/dead-letter'
import { Kafka, logLevel } from 'kafkajs'

const { BROKERS = '', TOPIC = '', GROUP = '', KEY = '' } = process.env

const kafka = new Kafka({ clientId: 'billing', brokers: BROKERS.split(','), logLevel: logLevel.ERROR })
const producer = kafka.producer({ idempotent: true })
const consumer = kafka.consumer({ groupId: GROUP, readUncommitted: false })
await Promise.all([producer.connect(), consumer.connect()])
await consumer.subscribe({ topic: TOPIC, fromBeginning: true })
await consumer.run({
  eachMessage: async (record) => {
    try {
      charge(String(record.message.key), record.message.headers?.['dlq-attempt'] !== undefined)
    } catch (error) {
      await deadLetter(producer, record, { error, consumerGroup: GROUP })
    }
  },
})

function charge(key: string, isRetry: boolean): void {
  if (key !== KEY) return
  if (!isRetry) throw new RangeError(`no card for ${key}`)
  console.log(`handled ${key}`)
}
