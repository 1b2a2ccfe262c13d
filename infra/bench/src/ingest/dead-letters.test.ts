import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { expect, test } from 'vitest'
import { benchRecord } from './dead-letters.ts'

const record = benchRecord(17, { originalTopic: 'orders' })

test('a record looks as Spring writes it, and is read as a record of Spring', () => {
  const { family, context } = readFailure({ topic: 'orders.dlq.v1', timestamp: 0n, ...record })

  expect({ family, ...context }).toMatchObject({
    family: 'spring-dlt',
    originalTopic: 'orders',
    originalPartition: 1,
    originalOffset: 17n,
    errorClass: 'com.example.orders.OutOfStockException',
  })
})

test('a record has the sizes for which the results are stated', () => {
  expect(record.value.length).toBe(1024)
  expect(record.headers.at(-1)![1]!.length).toBe(2048)
  expect(() => JSON.parse(record.value.toString())).not.toThrow()
})

test('the same number gives the same record, another number another one', () => {
  expect(benchRecord(17, { originalTopic: 'orders' })).toEqual(record)
  expect(benchRecord(18, { originalTopic: 'orders' }).value).not.toEqual(record.value)
})
