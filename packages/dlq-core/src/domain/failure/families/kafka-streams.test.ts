import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

const set = (exception: string | null, message: string | null, [topic, partition, offset]: (string | null)[]) =>
  [
    ['__streams.errors.exception', exception],
    ['__streams.errors.message', message],
    ['__streams.errors.stacktrace', 'app.OrderRejected: refused\n\tat app.A.b(A.java:1)\n'],
    ['__streams.errors.topic', topic ?? null],
    ['__streams.errors.partition', partition ?? null],
    ['__streams.errors.offset', offset ?? null],
  ] as const

test('the last set is read, with the record’s own timestamp', () => {
  const record = deadLetter([
    ...set('app.Stale', 'stale', ['orders', '0', '1']),
    ...set('app.OrderRejected', 'refused', ['orders', '0', '7']),
  ])
  expect(readFailure(record)).toMatchObject({
    family: 'kafka-streams',
    context: {
      originalTopic: 'orders',
      originalPartition: 0,
      originalOffset: 7n,
      originalTimestamp: 1_795_268_108_781n,
      consumerGroup: null,
      errorClass: 'app.OrderRejected',
      errorMessage: 'refused',
      errorStacktrace: 'app.OrderRejected: refused\n\tat app.A.b(A.java:1)\n',
      attempts: null,
    },
  })
})

test('a punctuator’s failure has null headers and −1, hence no coordinates, and says that there was no partition', () => {
  const record = deadLetter([
    ...set('app.Stale', 'stale', ['orders', '0', '1']),
    ...set('java.lang.IllegalStateException', null, [null, '-1', '-1']),
  ])
  expect(readFailure(record).context).toMatchObject({
    originalTopic: null,
    originalPartition: -1,
    originalOffset: null,
    errorClass: 'java.lang.IllegalStateException',
    errorMessage: null,
  })
})

test('an exception written as toString() is parted into class and message', () => {
  const record = deadLetter(set('app.OrderRejected: refused: no stock', null, ['orders', '0', '7']))
  expect(readFailure(record).context).toMatchObject({
    errorClass: 'app.OrderRejected',
    errorMessage: 'refused: no stock',
  })
})
