import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

test.each(['source_', 'original_'])('%s* headers are read; they have no error', (prefix) => {
  const record = deadLetter([
    [`${prefix}topic`, 'orders'],
    [`${prefix}partition`, '1'],
    [`${prefix}offset`, '12'],
    [`${prefix}consumer_group`, 'app_orders'],
    [`${prefix}attempts`, '3'],
  ])
  expect(readFailure(record)).toMatchObject({
    family: 'karafka',
    context: {
      originalTopic: 'orders',
      originalPartition: 1,
      originalOffset: 12n,
      originalTimestamp: null,
      consumerGroup: 'app_orders',
      errorClass: null,
      errorMessage: null,
      attempts: 3,
    },
  })
})

test('an application’s own source_topic is not Karafka’s', () => {
  const names = ['source_topic', 'source_partition', 'source_offset']
  for (const missing of names) {
    const own = names.filter((name) => name !== missing).map((name) => [name, '1'] as const)
    expect(readFailure(deadLetter(own)).family, missing).toBeNull()
  }
})
