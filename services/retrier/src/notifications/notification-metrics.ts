// The metrics of notifications.

import { Counter, type Registry } from 'prom-client'
import { countFromZero } from '../count-from-zero.ts'

export type NotificationMetrics = ReturnType<typeof createNotificationMetrics>

export function createNotificationMetrics(registry: Registry) {
  return {
    deliveries: countFromZero(
      new Counter({
        name: 'dlq_notification_tries_total',
        help: 'Tries to deliver a notification, by outcome: delivered, again (it failed and is tried again, or was the last try), elsewhere (no try: only other retriers have the channel), dead (it cannot be tried), gone (the receiver said 410).',
        labelNames: ['outcome'],
        registers: [registry],
      }),
      'outcome',
      ['delivered', 'again', 'elsewhere', 'dead', 'gone'],
    ),
    heartbeats: countFromZero(
      new Counter({
        name: 'dlq_notification_heartbeats_total',
        help: 'Calls of notifications.heartbeat_url_file, by outcome: ok or failed.',
        labelNames: ['outcome'],
        registers: [registry],
      }),
      'outcome',
      ['ok', 'failed'],
    ),
  }
}
