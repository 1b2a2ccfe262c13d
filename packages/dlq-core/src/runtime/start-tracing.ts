// Traces by OpenTelemetry, off unless its own environment variables ask for them; its packages are only loaded then.

import { noTracing, type Tracing } from './tracing.ts'

/** Whether OTEL_… variables ask for traces: an endpoint, or OTEL_TRACES_EXPORTER=otlp. */
export function isTracingAsked(env: NodeJS.ProcessEnv): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false
  if (env.OTEL_TRACES_EXPORTER) return env.OTEL_TRACES_EXPORTER === 'otlp'
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

/** @param env OTEL_EXPORTER_OTLP_…, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_BSP_… go by OpenTelemetry's specification */
export async function startTracing(options: {
  service: string
  version: string
  env: NodeJS.ProcessEnv
}): Promise<Tracing> {
  if (!isTracingAsked(options.env)) return noTracing
  const { startOtlpTracing } = await import('./otlp-tracing.ts')
  return startOtlpTracing(options)
}
