import { deadLetter } from 'dlq-client/dead-letter'
import { Kafka } from 'kafkajs'

const kafka = new Kafka({ clientId: 'billing', brokers: ['kafka-0:9092'] })
const producer = kafka.producer({ idempotent: true })
const consumer = kafka.consumer({ groupId: 'billing' })
await Promise.all([producer.connect(), consumer.connect()])
await consumer.subscribe({ topic: 'orders' })
await consumer.run({
  eachMessage: async (record) => {
    try {
      await takePayment(JSON.parse(String(record.message.value)))
    } catch (error) {
      // To orders.dlq.v1. If Kafka does not take it, this throws, and Kafka delivers the record again.
      await deadLetter(producer, record, { error, consumerGroup: 'billing' })
    }
  },
})

declare function takePayment(order: unknown): Promise<void>
