import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { framesId, splitFrames } from 'dlq-core/domain/failure/stack-frames.ts'
import { expect, test } from 'vitest'
import { realRecord } from './real-dead-letters.ts'

const records = Array.from({ length: 400 }, (_, index) => realRecord(index, { originalTopic: 'orders' }))
const traceOf = (record: (typeof records)[number]) => record.headers.at(-1)![1]!.toString()

test('a record is read as a record of Spring, with the cause that the application threw', () => {
  const { family, context } = readFailure({ topic: 'orders.dlq.v1', timestamp: 0n, ...records[17]! })
  expect({ family, ...context }).toMatchObject({ family: 'spring-dlt', originalTopic: 'orders', originalOffset: 17n })
})

test('no two traces are equal, and all have the frames of one of 36 places', () => {
  const traces = records.map(traceOf)
  expect(new Set(traces).size).toBe(traces.length)
  expect(new Set(traces.map((trace) => framesId(splitFrames(trace)!.frames))).size).toBe(36)
})

test('a trace is 4.5 KB long, and a fifteenth of it is its own', () => {
  for (const trace of records.map(traceOf)) {
    expect(Math.abs(Buffer.byteLength(trace) - 4500)).toBeLessThan(100)
    expect(splitFrames(trace)!.own.length).toBeLessThan(300)
  }
})

test('a value is 1 KB, and one of ten is not JSON', () => {
  const isJson = ({ value }: (typeof records)[number]) => {
    try {
      JSON.parse(value.toString())
      return true
    } catch {
      return false
    }
  }
  expect(records.every(({ value }) => value.length === 1024)).toBe(true)
  expect(records.filter(isJson).length).toBe(360)
})

test('the same number gives the same record', () => {
  expect(realRecord(17, { originalTopic: 'orders' })).toEqual(records[17])
})
