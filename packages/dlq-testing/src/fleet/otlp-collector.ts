// Replaces an OpenTelemetry collector: accepts spans by OTLP over HTTP in JSON, and keeps them.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CollectedSpan = {
  service: string
  name: string
  traceId: string
  parentSpanId: string
  attributes: Record<string, unknown>
  links: { traceId: string; spanId: string }[]
  /** 2: it failed. */
  status: number
}

export type OtlpCollector = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  spans(): CollectedSpan[]
  close(): Promise<void>
}

type Attribute = { key: string; value: { stringValue?: string; intValue?: number | string } }
type OtlpSpan = Omit<CollectedSpan, 'service' | 'attributes' | 'status' | 'links'> & {
  attributes: Attribute[]
  links?: CollectedSpan['links']
  status?: { code?: number }
}
type OtlpRequest = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[]
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.url === '/v1/traces') spans.push(...spansIn(JSON.parse(Buffer.concat(chunks).toString())))
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => spans,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function spansIn({ resourceSpans }: OtlpRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, parentSpanId, attributes, links = [], status }) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        ...{ name, traceId, parentSpanId, links, status: status?.code ?? 0 },
        attributes: valuesOf(attributes),
      })),
    ),
  )
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))
}
