// OpenTelemetry's SDK behind runtime/tracing.ts: spans in batches, by OTLP over HTTP in JSON.

import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Span, Tracing } from './tracing.ts'

const kinds = { consumer: SpanKind.CONSUMER, producer: SpanKind.PRODUCER, server: SpanKind.SERVER }
const lastSendMs = 3000

export function startOtlpTracing({
  service,
  version,
  env,
}: {
  service: string
  version: string
  env: NodeJS.ProcessEnv
}): Tracing {
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': `dlq-${service}`, 'service.version': version }))
      // The environment overrides these: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(env),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        ...numberOf('maxQueueSize', env.OTEL_BSP_MAX_QUEUE_SIZE),
        ...numberOf('maxExportBatchSize', env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE),
        ...numberOf('scheduledDelayMillis', env.OTEL_BSP_SCHEDULE_DELAY),
        ...numberOf('exportTimeoutMillis', env.OTEL_BSP_EXPORT_TIMEOUT),
      }),
    ],
  })
  const tracer = provider.getTracer('dlq-manager', version)
  return {
    isOn: true,
    start({ name, kind, attributes, parent }) {
      const context = parent === null ? ROOT_CONTEXT : contextOf(parent)
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, context)
      return {
        rename: (name) => void span.updateName(name),
        set: (more) => void span.setAttributes(more),
        link: (traceparent) => void span.addLink({ context: spanContextOf(traceparent) }),
        end(failure) {
          if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
          span.end()
        },
      } satisfies Span
    },
    async [Symbol.asyncDispose]() {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, lastSendMs)
      })
      // An unreachable collector must not delay the end of the process.
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
  }
}

function spanContextOf(traceparent: string) {
  const [, traceId, spanId, flags] = traceparent.split('-')
  const isSampled = (Number.parseInt(flags!, 16) & TraceFlags.SAMPLED) !== 0
  return {
    ...{ traceId: traceId!, spanId: spanId!, isRemote: true },
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  }
}

function contextOf(traceparent: string): Context {
  return trace.setSpanContext(ROOT_CONTEXT, spanContextOf(traceparent))
}

/** OTEL_TRACES_SAMPLER, as OpenTelemetry's specification of environment variables has it. */
function samplerOf({
  OTEL_TRACES_SAMPLER: name = 'parentbased_always_on',
  OTEL_TRACES_SAMPLER_ARG: arg,
}: NodeJS.ProcessEnv): Sampler {
  const ratio = Number(arg ?? 1)
  const roots: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1),
  }
  const root = (roots[name.replace('parentbased_', '')] ?? roots.always_on!)()
  return name in roots ? root : new ParentBasedSampler({ root })
}

function numberOf<Name extends string>(name: Name, text: string | undefined): { [key in Name]?: number } {
  const value = Number(text)
  return text && value > 0 ? ({ [name]: value } as { [key in Name]: number }) : {}
}
