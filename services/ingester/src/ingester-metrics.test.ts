// The counters that alerts watch are there before what they count happens.

import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createIngesterMetrics } from './ingester-metrics.ts'

test('lost and reduced records of a topic are counted from 0 on, as soon as its partitions are assigned', async () => {
  const registry = new Registry()
  const metrics = createIngesterMetrics(registry)
  metrics.assigned(['orders.dlq.v1', 'stock.dlq.v1'])
  metrics.lost('orders.dlq.v1', 12)
  metrics.assigned(['orders.dlq.v1'])

  const text = await registry.metrics()
  expect(text).toContain('dlq_ingest_records_lost_total{topic="orders.dlq.v1"} 12\n')
  expect(text).toContain('dlq_ingest_records_lost_total{topic="stock.dlq.v1"} 0\n')
  expect(text).toContain('dlq_ingest_records_total{topic="stock.dlq.v1",outcome="reduced"} 0\n')
  expect(text).toContain('dlq_ingest_rebalances_total 2\n')
})
