// The metrics of every service, from the code that registers them. Tests compare documents, rules and dashboards
// with them.

import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { createDatabaseMetrics } from 'dlq-core/runtime/database/database-metrics.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createCertificateMetrics } from 'dlq-core/runtime/tls/own-certificates.ts'
import { collectDefaultMetrics, type MetricObject, type MetricObjectWithValues, Registry } from 'prom-client'
import { createFleetMetrics } from '../../../services/api/src/fleet/fleet-metrics.ts'
import { createEventStreams } from '../../../services/api/src/http/event-streams.ts'
import { observeRequests } from '../../../services/api/src/http/observe-requests.ts'
import { createIngesterMetrics } from '../../../services/ingester/src/ingester-metrics.ts'
import { createClockMetrics } from '../../../services/retrier/src/cron/watch-clock.ts'
import { createUpkeepMetrics } from '../../../services/retrier/src/cron/watch-upkeep.ts'
import { createNotificationMetrics } from '../../../services/retrier/src/notifications/notification-metrics.ts'
import { createVerdictMetrics } from '../../../services/retrier/src/readers/verdict-counter.ts'
import { createRetrierMetrics } from '../../../services/retrier/src/retrier-metrics.ts'
import { createRunMetrics } from '../../../services/retrier/src/runs/run-metrics.ts'
import { createStalenessMetrics } from '../../../services/retrier/src/staleness/staleness-metrics.ts'
import { createWorkerMetrics } from '../../../services/retrier/src/worker/worker-metrics.ts'

export type Metric = { name: string; type: string; labels: readonly string[]; help: string }

export const sections = ['every service', 'api: the fleet', 'api', 'ingester', 'retrier'] as const
export type Section = (typeof sections)[number]

const log = createLog({ service: 'monitoring', level: 'silent' })
const { config } = loadConfig({ env: {}, yaml: null, needs: [] })

const register: Record<Section, (registry: Registry) => void> = {
  'every service': (registry) => {
    createDatabaseMetrics(registry, { max: 1 })
    createCertificateMetrics(registry, () => config)
  },
  'api: the fleet': (registry) => createFleetMetrics({ sql: null as unknown as Database, registry, log }),
  api: (registry) => {
    observeRequests({ registry, log, slowRequestMs: 1 })
    createEventStreams(registry)
  },
  ingester: (registry) => void createIngesterMetrics(registry),
  retrier: (registry) => {
    createRetrierMetrics(registry)
    createUpkeepMetrics(registry)
    createClockMetrics(registry)
    createWorkerMetrics(registry)
    createRunMetrics(registry)
    createVerdictMetrics(registry)
    createStalenessMetrics(registry)
    createNotificationMetrics(registry)
  },
}

/** Our own metrics, in the order of the code. */
export function metricsOf(section: Section): Metric[] {
  const registry = new Registry()
  register[section](registry)
  return describe(registry)
}

/** Those of Node and the process, which prom-client brings to every service. */
export function processMetrics(): Metric[] {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  return describe(registry)
}

function describe(registry: Registry): Metric[] {
  return registry.getMetricsAsArray().map((metric) => {
    const {
      name,
      help,
      type,
      labelNames = [],
    } = metric as MetricObject & MetricObjectWithValues<never> & { labelNames?: string[] }
    return { name, help, type: String(type), labels: labelNames.filter((label) => label !== 'le') }
  })
}
