// Calls an address every minute while retriers live. Its silence alarms elsewhere, because nobody here could.

import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { readUrl } from './channels.ts'
import type { NotificationMetrics } from './notification-metrics.ts'
import { sendSafely } from './post-safely.ts'

export const heartbeatMs = 60_000

export type HeartbeatDeps = { settings: () => Config['notifications']; metrics: NotificationMetrics; log: Log }

export function createHeartbeatCall({ settings, metrics, log }: HeartbeatDeps) {
  return async function callHeartbeat(): Promise<{ more: false }> {
    const { heartbeat_url_file: file, allow_http, allow_networks } = settings()
    if (file === undefined) return { more: false }
    try {
      const rules = { allowHttp: allow_http, allowNetworks: allow_networks ?? [] }
      const { status } = await sendSafely(readUrl(file), { method: 'GET' }, rules)
      if (status >= 300) throw new Error(`the receiver answered ${status}`)
      metrics.heartbeats.inc({ outcome: 'ok' })
    } catch (error) {
      metrics.heartbeats.inc({ outcome: 'failed' })
      log.warn({ error: (error as Error).message }, 'heartbeat_failed')
    }
    return { more: false }
  }
}
