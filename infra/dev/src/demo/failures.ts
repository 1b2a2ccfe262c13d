// What fails in the demo, in three topics and three languages, and what becomes of it when it is tried again. Pure: what
// a record says decides, so that a retried record fails, or not, for the reason that stands in its value.

import { duringOutageMs, type Order, takePayment } from './take-payment.ts'

export const demoTopics = ['orders', 'shipments', 'invoices'] as const
/** Of each of them, and of its DLQ topic. */
export const partitionCount = 3

export type DemoTopic = (typeof demoTopics)[number]

export type FailureKind = 'card' | 'amount' | 'warehouse' | 'database' | 'layout' | 'label'

export type DemoFailure = {
  kind: FailureKind
  topic: DemoTopic
  group: string
  /** Whether a retry of the same bytes can work. */
  isMendedByTime: boolean
  valueFor: (id: string, n: number) => string
  error: (id: string) => Error
}

const python = (id: string) => `Traceback (most recent call last):
  File "/srv/shipping/worker.py", line 58, in handle
    reserve(shipment)
  File "/srv/shipping/stock.py", line 31, in reserve
    warehouse = shipment["warehouse_id"]
                ~~~~~~~~^^^^^^^^^^^^^^^^
KeyError: 'warehouse_id' of shipment ${id}`

const java = (name: string, message: string, frame: string) => `${name}: ${message}
	at com.example.${frame}
	at org.springframework.kafka.listener.adapter.HandlerAdapter.invoke(HandlerAdapter.java:78)
	at org.springframework.kafka.listener.KafkaMessageListenerContainer$ListenerConsumer.doInvokeRecordListener(KafkaMessageListenerContainer.java:2891)
	at java.base/java.lang.Thread.run(Thread.java:1583)`

/** A more exact number than any double holds, as text: the value's new layout, which the consumer does not know. */
const exactAmount = (n: number) => `123456789012345678${String(n % 100).padStart(2, '0')}`

export const demoFailures: Readonly<Record<FailureKind, DemoFailure>> = {
  card: {
    ...{ kind: 'card', topic: 'orders', group: 'payments', isMendedByTime: true },
    valueFor: (id, n) => JSON.stringify({ order_id: id, amount: 10 + (n % 90), card: `**** ${1000 + (n % 9000)}` }),
    error: () => thrownFor({ order_id: '', amount: 10, card: '' }, duringOutageMs),
  },
  amount: {
    ...{ kind: 'amount', topic: 'orders', group: 'payments', isMendedByTime: false },
    valueFor: (id, n) => JSON.stringify({ order_id: id, amount: -5, card: `**** ${1000 + (n % 9000)}` }),
    error: (id) => thrownFor({ order_id: id, amount: -5, card: '' }, 0),
  },
  warehouse: {
    ...{ kind: 'warehouse', topic: 'shipments', group: 'shipping', isMendedByTime: false },
    valueFor: (id, n) => JSON.stringify({ shipment_id: id, weight_g: 200 + n }),
    error: (id) => named('KeyError', `'warehouse_id' of shipment ${id}`, python(id)),
  },
  database: {
    ...{ kind: 'database', topic: 'shipments', group: 'shipping', isMendedByTime: true },
    valueFor: (id, n) => JSON.stringify({ shipment_id: id, warehouse_id: 1 + (n % 4), weight_g: 200 + n }),
    error: () => {
      const message = 'Connection to db-2.example.com:5432 refused'
      const name = 'org.postgresql.util.PSQLException'
      return named(name, message, java(name, message, 'shipping.Reservations.reserve(Reservations.java:84)'))
    },
  },
  layout: {
    ...{ kind: 'layout', topic: 'invoices', group: 'invoicing', isMendedByTime: false },
    valueFor: (id, n) => `{"invoice_id": ${JSON.stringify(id)}, "amount": "${exactAmount(n)}"}`,
    error: (id) => {
      const message = `amount of invoice ${id} is a string, and not a number`
      const name = 'com.example.invoicing.LayoutException'
      return named(name, message, java(name, message, 'invoicing.InvoiceReader.read(InvoiceReader.java:41)'))
    },
  },
  label: {
    ...{ kind: 'label', topic: 'invoices', group: 'invoicing', isMendedByTime: true },
    valueFor: (id, n) => `{"invoice_id": ${JSON.stringify(id)}, "amount": ${10 + (n % 500)}}`,
    error: (id) => {
      const message = `tax office did not answer for invoice ${id} within 3 s`
      const name = 'java.net.http.HttpTimeoutException'
      return named(name, message, java(name, message, 'invoicing.TaxOffice.rateOf(TaxOffice.java:66)'))
    },
  },
}

/** What a consumer of shipments and invoices finds wrong in a record; null where it can work. */
export function faultIn(topic: string, value: string): DemoFailure | null {
  const content = JSON.parse(value) as { warehouse_id?: unknown; amount?: unknown }
  if (topic === 'shipments' && content.warehouse_id === undefined) return demoFailures.warehouse
  if (topic === 'invoices' && typeof content.amount === 'string') return demoFailures.layout
  return null
}

/** As the present demo fails, so that both are one group. */
function thrownFor(order: Order, sinceStartMs: number): Error {
  try {
    takePayment(order, sinceStartMs)
  } catch (error) {
    return error as Error
  }
  throw new Error('this order works')
}

function named(name: string, message: string, stack: string): Error {
  return Object.assign(new Error(message), { name, stack })
}
