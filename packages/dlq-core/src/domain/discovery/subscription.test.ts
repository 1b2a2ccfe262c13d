import { describe, expect, test } from 'vitest'
import { mappingsOf, type StartingLog, type Subscription, startOf, topicDecider } from './subscription.ts'

const row = (pattern: string, mode: 'ingest' | 'ignore', more: Partial<Subscription> = {}) =>
  ({ pattern, mode, cluster: null, original: null, ...more }) as Subscription
const decide = (topic: string, rows: Subscription[]) =>
  topicDecider({ rows, patterns: ['*.dlq.v1'], cluster: 'c' })(topic).isIngested

describe('who decides about a topic', () => {
  test('without rows the configuration does', () => {
    expect(decide('orders.dlq.v1', [])).toBe(true)
    expect(decide('orders-dlt', [])).toBe(false)
  })
  test('a pattern decides over the configuration', () => {
    expect(decide('orders.dlq.v1', [row('orders.*', 'ignore')])).toBe(false)
    expect(decide('orders-dlt', [row('*-dlt', 'ingest')])).toBe(true)
  })
  test('an exact name decides over a pattern, whichever stands first', () => {
    const rows = [row('*-dlt', 'ignore'), row('orders-dlt', 'ingest')]
    expect(decide('orders-dlt', rows)).toBe(true)
    expect(decide('orders-dlt', rows.toReversed())).toBe(true)
    expect(decide('payments-dlt', rows)).toBe(false)
  })
  test('among equals ignore wins', () => {
    const rows = [row('orders-*', 'ingest'), row('*-dlt', 'ignore')]
    expect(decide('orders-dlt', rows)).toBe(false)
    expect(decide('orders-dlt', rows.toReversed())).toBe(false)
  })
  test('a row of another cluster decides nothing', () => {
    expect(decide('orders-dlt', [row('orders-dlt', 'ingest', { cluster: 'd' })])).toBe(false)
    expect(decide('orders-dlt', [row('orders-dlt', 'ingest', { cluster: 'c' })])).toBe(true)
  })
  test('no pattern makes a topic of the cluster itself a DLQ topic', () => {
    expect(decide('__consumer_offsets', [row('*offsets', 'ingest')])).toBe(false)
  })
})

test('mappings of exact names stand before those of patterns, and of ignored topics there are none', () => {
  expect(
    mappingsOf([
      row('*-dlt', 'ingest', { original: '$1' }),
      row('a-dlt', 'ingest', { original: 'b' }),
      row('c-dlt', 'ignore', { original: 'c' }),
    ]),
  ).toEqual([
    { dlq: 'a-dlt', original: 'b' },
    { dlq: '*-dlt', original: '$1' },
  ])
})

describe('where a partition begins', () => {
  const old: StartingLog = {
    ...{ partition: 0, log_start_offset: 10n, log_end_offset: 100n, since_offset: null, start_offset: 40n },
  }
  const begin = (start: Subscription['start'], backlog: Subscription['backlog'], log: Partial<StartingLog> = {}) => {
    const { next_offset, manual_below } = startOf({ start, backlog }, { ...old, ...log })
    return [next_offset, manual_below]
  }
  test('all that Kafka holds is the backlog of a manual one', () => {
    expect(begin('earliest', 'manual')).toEqual([10n, 100n])
    expect(begin('time', 'manual')).toEqual([40n, 100n])
    expect(begin('latest', 'manual')).toEqual([100n, 100n])
    expect(begin('earliest', 'auto')).toEqual([10n, null])
  })
  test('a record in the middle with a time of today does not make what follows it new', () => {
    expect(begin('earliest', 'manual', { since_offset: 50n })).toEqual([10n, 100n])
  })
  test('what came between the subscription and the first look is not skipped', () => {
    expect(begin('latest', 'manual', { since_offset: 60n })).toEqual([60n, 100n])
  })
  test('a time after the last record begins at the end', () => {
    expect(begin('time', 'manual', { start_offset: null })).toEqual([100n, 100n])
  })
  test('a topic that was made after the subscription is read from its beginning, and has no backlog', () => {
    const young = { log_start_offset: 0n, log_end_offset: 3n, since_offset: 0n }
    expect(begin('latest', 'manual', young)).toEqual([0n, null])
    expect(begin('earliest', 'manual', { log_start_offset: 0n, log_end_offset: 0n, since_offset: null })).toEqual([
      0n,
      null,
    ])
  })
})
