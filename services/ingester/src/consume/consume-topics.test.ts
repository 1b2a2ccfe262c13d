// Consumers that do not begin; nothing answers here.

import { getEventListeners } from 'node:events'
import { createDecodePools } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import { type ConsumeDeps, consumeTopics } from './consume-topics.ts'

const kafka = new Kafka({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING, retry: { retries: 0 } })

function consume(signal: AbortSignal): Promise<void> {
  const deps: Partial<ConsumeDeps> = {
    ...{ kafka, signal, cluster: 'main', groupId: 'ingesters', ingesterId: 'one', topics: ['orders.dlq.v1'] },
    pool: createDecodePools({ maxValueBytes: 1000 }).fetches,
    log: createLog({ service: 'test', level: 'silent' }),
  }
  return consumeTopics(deps as ConsumeDeps)
}

test('a list that has changed before the consumer begins is not read', async () => {
  await expect(consume(AbortSignal.abort())).resolves.toBeUndefined()
})

test('a consumer that ends is forgotten: while Kafka is away, another one begins every few seconds', async () => {
  const { signal } = new AbortController()
  await expect(consume(signal)).rejects.toThrow('ECONNREFUSED')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
