// The example of README.md, run by graphile-worker itself: an order reserves stock, charges a card and ships. If a later
// step fails, it compensates the earlier ones.
import { setTimeout as sleep } from 'node:timers/promises'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Logger, type Runner, run, runMigrations } from 'graphile-worker'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sagaTasks } from './saga-tasks.ts'
import { startSaga } from './start-saga.ts'
import { getSaga } from './store/saga-list.ts'
import { defineWorkflow, PermanentStepError } from './workflow.ts'

type Order = { orderId: string; item: string; amount: number }

/** A warehouse, a bank and a carrier: other systems, which know each request by its key. */
const warehouse = { stock: new Map([['lamp', 2]]), reserved: new Map<string, string>() }
const bank = { charges: new Map<string, number>(), limit: 100, slow: 1 }
const carrier = { parcels: new Map<string, string>() }

const placeOrder = defineWorkflow<Order>({
  name: 'place-order',
  steps: [
    {
      name: 'reserve-stock',
      timeoutMs: 5000,
      retry: { maxAttempts: 3, delayMs: 100 },
      async execute({ payload: { item }, idempotencyKey }) {
        const left = warehouse.stock.get(item) ?? 0
        if (warehouse.reserved.has(idempotencyKey)) return { reservation: idempotencyKey }
        if (left === 0) throw new PermanentStepError(`no ${item} in stock`)
        warehouse.stock.set(item, left - 1)
        warehouse.reserved.set(idempotencyKey, item)
        return { reservation: idempotencyKey }
      },
      async compensate({ results }) {
        const { reservation } = results['reserve-stock'] as { reservation: string }
        const item = warehouse.reserved.get(reservation)
        // It may have been given back already.
        if (item === undefined) return
        warehouse.reserved.delete(reservation)
        warehouse.stock.set(item, warehouse.stock.get(item)! + 1)
      },
    },
    {
      name: 'charge-card',
      timeoutMs: 5000,
      retry: { maxAttempts: 5, delayMs: 50 },
      async execute({ payload: { amount }, idempotencyKey }) {
        if (bank.slow-- > 0) throw new Error('the bank is busy')
        if (amount > bank.limit) throw new PermanentStepError('card declined')
        bank.charges.set(idempotencyKey, amount)
        return { charge: idempotencyKey }
      },
      async compensate({ sagaId }) {
        for (const key of bank.charges.keys()) if (key.startsWith(sagaId)) bank.charges.delete(key)
      },
    },
    {
      name: 'ship',
      timeoutMs: 5000,
      retry: { maxAttempts: 1, delayMs: 0 },
      async execute({ payload: { orderId, item }, idempotencyKey }) {
        if (item === 'piano') throw new PermanentStepError('nobody carries pianos')
        carrier.parcels.set(idempotencyKey, orderId)
      },
    },
  ],
})

const database = useDatabase()
let runner: Runner

beforeAll(async () => {
  const logger = new Logger(() => () => {})
  await runMigrations({ connectionString: database.url, logger })
  runner = await run({
    connectionString: database.url,
    maxPoolSize: 4,
    concurrency: 2,
    noHandleSignals: true,
    logger,
    taskList: sagaTasks({ sql: database.sql, workflows: [placeOrder], countDeaths: async () => 0 }),
  })
})
afterAll(() => runner.stop())

async function place(order: Order): Promise<string> {
  const { id } = await database.sql.begin((sql) =>
    startSaga(sql, placeOrder, { payload: order, correlationId: order.orderId, initiatedBy: 'shop' }),
  )
  return id
}

async function untilEnded(id: string) {
  for (;;) {
    const saga = (await getSaga(database.sql, id))!
    if (['COMPLETED', 'FAILED', 'CANCELLED'].includes(saga.status)) return saga
    await sleep(20)
  }
}

const logOf = ({ steps }: Awaited<ReturnType<typeof untilEnded>>) =>
  steps.map(({ step_name, action, status }) => `${step_name} ${action} ${status}`)

test('an order that can be fulfilled is COMPLETED, also where the bank is busy at first', async () => {
  const id = await place({ orderId: 'order-1', item: 'lamp', amount: 40 })
  expect(await place({ orderId: 'order-1', item: 'lamp', amount: 40 })).toBe(id)
  const saga = await untilEnded(id)
  expect(saga).toMatchObject({ status: 'COMPLETED', correlation_id: 'order-1', initiated_by: 'shop' })
  expect(logOf(saga)).toEqual(['reserve-stock EXECUTE SUCCESS', 'charge-card EXECUTE SUCCESS', 'ship EXECUTE SUCCESS'])
  expect([...bank.charges.values()]).toEqual([40])
  expect([...carrier.parcels.values()]).toEqual(['order-1'])
  expect(warehouse.stock.get('lamp')).toBe(1)
})

test('an order whose card is declined gives the stock back', async () => {
  const saga = await untilEnded(await place({ orderId: 'order-2', item: 'lamp', amount: 400 }))
  expect(saga).toMatchObject({ status: 'FAILED', error_message: 'step charge-card failed: card declined' })
  expect(logOf(saga)).toEqual([
    'reserve-stock EXECUTE SUCCESS',
    'reserve-stock COMPENSATE SUCCESS',
    'charge-card EXECUTE FAILED',
  ])
  expect(warehouse.stock.get('lamp')).toBe(1)
})

test('an order that cannot be shipped gives the money back, then the stock', async () => {
  warehouse.stock.set('piano', 1)
  const saga = await untilEnded(await place({ orderId: 'order-3', item: 'piano', amount: 99 }))
  expect(saga.status).toBe('FAILED')
  const compensations = saga.steps.filter(({ action }) => action === 'COMPENSATE')
  const inOrder = compensations.toSorted((a, b) => a.started_at.getTime() - b.started_at.getTime())
  expect(inOrder.map(({ step_name }) => step_name)).toEqual(['charge-card', 'reserve-stock'])
  expect([...bank.charges.values()]).toEqual([40])
  expect(warehouse.stock.get('piano')).toBe(1)
})
