// Counters with known labels are there before what they count happens.

import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createNotificationMetrics } from './notifications/notification-metrics.ts'
import { createVerdictMetrics } from './readers/verdict-counter.ts'
import { createRetrierMetrics } from './retrier-metrics.ts'
import { createStalenessMetrics } from './staleness/staleness-metrics.ts'

test('what a retrier counts by known labels begins at 0, so that the first increase is seen', async () => {
  const registry = new Registry()
  createRetrierMetrics(registry)
  createVerdictMetrics(registry)
  createNotificationMetrics(registry)
  createStalenessMetrics(registry)

  const text = await registry.metrics()
  for (const counted of [
    'dlq_retry_attempts_total{outcome="refused"}',
    'dlq_retry_recovered_total{verdict="unknown"}',
    'dlq_retry_unheld_total{status="DEAD"}',
    'dlq_verdicts_total{verdict="came_back"}',
    'dlq_notification_tries_total{outcome="dead"}',
    'dlq_notification_heartbeats_total{outcome="failed"}',
    'dlq_staleness_answers_total{answer="superseded"}',
  ])
    expect(text).toContain(`${counted} 0\n`)
})
