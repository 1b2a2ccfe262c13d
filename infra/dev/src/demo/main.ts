// The demo's traffic, a separate process: a producer of orders, and a payments consumer that fails on some of them and
// dead-letters these as Spring does.

import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import kafkajs from 'kafkajs'
import { makeOrder, type Order, orderIntervalMs, takePayment } from './take-payment.ts'

const group = 'payments'
const startedAt = Date.now()

const kafka = new kafkajs.Kafka({
  clientId: 'demo',
  brokers: process.env.KAFKA_BROKERS!.split(','),
  logLevel: kafkajs.logLevel.ERROR,
  retry: { retries: 1000, maxRetryTime: 2000 },
})
const producer = kafka.producer({ allowAutoTopicCreation: false })
const consumer = kafka.consumer({ groupId: group, sessionTimeout: 10_000, allowAutoTopicCreation: false })

await producer.connect()
await consumer.connect()
await consumer.subscribe({ topics: ['orders'], fromBeginning: true })
await consumer.run({
  eachMessage: async ({ topic, partition, message }) => {
    try {
      takePayment(JSON.parse(String(message.value)) as Order, Date.now() - startedAt)
    } catch (error) {
      const { key, value, headerPairs: headers } = message
      const [offset, timestamp] = [BigInt(message.offset), BigInt(message.timestamp)]
      const failed = { topic, partition, offset, timestamp, key, value, headers, group, error: error as Error }
      await producer.send({ topic: 'orders.dlq.v1', messages: [springDeadLetter(failed)] })
    }
  },
})

let orders = 0
const ordering = setInterval(() => {
  orders += 1
  const order = makeOrder(orders, new Date())
  producer
    .send({ topic: 'orders', messages: [{ key: order.order_id, value: JSON.stringify(order) }] })
    .catch((error: Error) => console.error(error.message))
}, orderIntervalMs)

async function stop() {
  clearInterval(ordering)
  await Promise.allSettled([consumer.disconnect(), producer.disconnect()])
  process.exit(0)
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
