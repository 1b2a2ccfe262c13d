// The demo's traffic, a separate process: a producer of orders and invoices, and consumers that fail on some of them and
// dead-letter these as Spring does. At its first start it also sends the dead letters of the day before.

import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import kafkajs from 'kafkajs'
import { type DemoTopic, demoFailures, faultIn } from './failures.ts'
import { sendPast } from './send-past.ts'
import { makeOrder, type Order, orderIntervalMs, takePayment } from './take-payment.ts'

const startedAt = Date.now()
const invoiceEveryOrders = 3
/** Every tenth invoice, that is one record in thirty orders, has a layout that its consumer does not know. */
const newLayoutEveryInvoices = 10

const kafka = new kafkajs.Kafka({
  clientId: 'demo',
  brokers: process.env.KAFKA_BROKERS!.split(','),
  logLevel: kafkajs.logLevel.ERROR,
  retry: { retries: 1000, maxRetryTime: 2000 },
})
const producer = kafka.producer({ allowAutoTopicCreation: false })

await producer.connect()
if (await isFirstStart()) await sendPast(producer, Date.now())
const consumers = await Promise.all([
  consume('orders', 'payments', (value) => takePayment(JSON.parse(value) as Order, Date.now() - startedAt)),
  consume('shipments', 'shipping', (value) => failIfFaulty('shipments', value)),
  consume('invoices', 'invoicing', (value) => failIfFaulty('invoices', value)),
])

let orders = 0
const ordering = setInterval(() => {
  orders += 1
  const order = makeOrder(orders, new Date())
  send('orders', order.order_id, JSON.stringify(order))
  if (orders % invoiceEveryOrders !== 0) return
  const invoices = orders / invoiceEveryOrders
  const { layout, label } = demoFailures
  const { valueFor } = invoices % newLayoutEveryInvoices === 0 ? layout : label
  send('invoices', order.order_id, valueFor(order.order_id, invoices))
}, orderIntervalMs)

function send(topic: DemoTopic, key: string, value: string): void {
  producer.send({ topic, messages: [{ key, value }] }).catch((error: Error) => console.error(error.message))
}

/** Whatever `work` throws becomes a dead letter. */
async function consume(topic: DemoTopic, groupId: string, work: (value: string) => void) {
  const consumer = kafka.consumer({ groupId, sessionTimeout: 10_000, allowAutoTopicCreation: false })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ topic, partition, message }) => {
      try {
        work(String(message.value))
      } catch (error) {
        const { key, value, headerPairs: headers } = message
        const [offset, timestamp] = [BigInt(message.offset), BigInt(message.timestamp)]
        const failed = {
          topic,
          partition,
          offset,
          timestamp,
          key,
          value,
          headers,
          group: groupId,
          error: error as Error,
        }
        await producer.send({ topic: `${topic}.dlq.v1`, messages: [springDeadLetter(failed)] })
      }
    },
  })
  return consumer
}

function failIfFaulty(topic: DemoTopic, value: string): void {
  const fault = faultIn(topic, value)
  const { shipment_id, invoice_id } = JSON.parse(value) as { shipment_id?: string; invoice_id?: string }
  if (fault !== null) throw fault.error(shipment_id ?? invoice_id ?? '')
}

/** Nobody has ever written the DLQ topic that only the past and few others write. */
async function isFirstStart(): Promise<boolean> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const partitions = await admin.fetchTopicOffsets('shipments.dlq.v1')
    return partitions.every(({ high }) => high === '0')
  } finally {
    await admin.disconnect()
  }
}

async function stop() {
  clearInterval(ordering)
  await Promise.allSettled([...consumers.map((consumer) => consumer.disconnect()), producer.disconnect()])
  process.exit(0)
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
