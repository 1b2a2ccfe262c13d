// A whole fleet's traces, metrics and logs: one trace from the producer to the consumer of the retry, and only metrics
// and events that are documented.
import { readFileSync } from 'node:fs'
import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { startOtlpCollector } from 'dlq-testing/fleet/otlp-collector.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const collector = await startOtlpCollector()
const fleet = useFleet('traced', {
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100', DLQ_RETRY_AUTO_RETRY: 'false' },
})
beforeAll(() => fleet.services.startAll())
afterAll(() => collector.close())

const produced = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const asked = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const traceparent = ({ traceId, spanId }: typeof produced) => `00-${traceId}-${spanId}-01`

test('one trace leads from the producer through ingester and retrier to the consumer of the retry, and the API links to it', async () => {
  const { producer, dlq, original, cluster, services } = fleet
  const headers = { traceparent: traceparent(produced), tracestate: 'vendor=1' }
  const timestamp = 1_771_583_400_000n
  const [sent] = await producer.send({
    topic: dlq,
    messages: [{ value: '{"secret":"s3cret"}', headers, timestamp: String(timestamp) }, { value: 'without a trace' }],
  })
  const offset = BigInt(sent!.baseOffset!)
  const id = deriveMessageId({ cluster, topic: dlq, partition: 0, offset, timestamp })
  // Waits for the row first, because a request during ingestion has no trace to link to yet.
  await eventually(async () => expect((await services.request(`/api/v1/dlq/messages/${id}`)).status).toBe(200))
  const retried = await services.request(`/api/v1/dlq/messages/${id}/retry`, {
    method: 'POST',
    headers: { traceparent: traceparent(asked) },
  })
  expect(retried.status).toBe(200)
  expect(retried.json()).toMatchObject({ status: 'RESOLVED' })

  const [record] = await readTopic(fleet.topics.kafka, { topic: original, groupId: fleet.topics.groupName('again') })
  // Byte for byte the producer's headers, so the consumer continues its trace.
  expect(record!.headerPairs.slice(0, 2)).toEqual([
    ['traceparent', Buffer.from(headers.traceparent)],
    ['tracestate', Buffer.from(headers.tracestate)],
  ])

  await eventually(() => {
    const ofTrace = collector.spans().filter(({ traceId }) => traceId === produced.traceId)
    const ofMessage = { 'messaging.system': 'kafka', 'dlq.message_id': id }
    expect(ofTrace).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ service: 'dlq-ingester', name: `process ${dlq}`, parentSpanId: produced.spanId, status: 0 },
          attributes: expect.objectContaining({ ...ofMessage, 'messaging.kafka.offset': Number(offset) }),
        }),
        expect.objectContaining({
          ...{ service: 'dlq-retrier', name: `send ${original}`, parentSpanId: produced.spanId, status: 0 },
          attributes: expect.objectContaining({ ...ofMessage, 'messaging.kafka.offset': 0 }),
        }),
      ]),
    )
    // The API's span belongs to the client's trace, and links to the message's trace.
    expect(collector.spans()).toContainEqual(
      expect.objectContaining({
        ...{ service: 'dlq-api', name: 'POST /api/v1/dlq/messages/:id/retry' },
        ...{ traceId: asked.traceId, parentSpanId: asked.spanId },
        links: [expect.objectContaining(produced)],
        attributes: expect.objectContaining({ 'dlq.message_id': id, 'http.response.status_code': 200 }),
      }),
    )
  })
  // A record without a trace has no span, and no span holds parts of a record. A record that is read again gets another.
  const ingested = collector.spans().filter(({ service }) => service === 'dlq-ingester')
  expect(new Set(ingested.map(({ traceId }) => traceId))).toEqual(new Set([produced.traceId]))
  expect(JSON.stringify(collector.spans())).not.toContain('s3cret')
})

test('every metric that the services export is documented', async () => {
  const document = readFileSync(new URL('../../../infra/docs/metrics.md', import.meta.url), 'utf8')
  for (const service of ['api', 'ingester', 'retrier']) {
    const text = await (await fetch(`${fleet.services.get(service).url}/metrics`)).text()
    const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map((match) => match[1]!)
    expect(names.length).toBeGreaterThan(20)
    const foreign = names.filter((name) => !/^(process|nodejs)_/.test(name) && !document.includes(`\`${name}\``))
    expect([service, foreign]).toEqual([service, []])
    expect(text).toMatch(/^dlq_database_connections \d+$/m)
  }
})

test('every line of every log is a documented event, and none holds parts of a record', () => {
  const document = readFileSync(new URL('../../../infra/docs/logs.md', import.meta.url), 'utf8')
  for (const service of ['api', 'ingester', 'retrier']) {
    const output = fleet.services.get(service).lastOutput()
    // Only the end is kept, so the first line may lack its beginning.
    const lines = output.split('\n').filter((line) => line.startsWith('{"level"'))
    const events = lines.map((line) => (JSON.parse(line) as { event: string }).event)
    expect(events.length).toBeGreaterThan(1)
    expect(events.filter((event) => !document.includes(`\`${event}\``))).toEqual([])
    expect(output).not.toContain('s3cret')
  }
})
