import { eventTypeNames, eventTypes as known } from 'dlq-core/domain/notifications/event.ts'
import { expect, test } from 'vitest'
import {
  deliveryWords,
  eventsVerdict,
  eventTypes,
  eventTypeWords,
  lastingTypes,
  listOf,
  numberTyped,
  routeTimes,
  routeWords,
} from './event-words.ts'

const route = {
  ...{ types: [], topics: [], owners: [], min_severity: 'info' as const },
  ...{ digest: '5m', repeat_every: '4h', quiet: null, dead_threshold: null },
}

test('every kind of event has words, and one that is newer than the page keeps its name', () => {
  expect(eventTypes).toEqual(eventTypeNames)
  expect([...lastingTypes]).toEqual(eventTypeNames.filter((type) => known[type].lasts))
  for (const type of eventTypes) expect(eventTypeWords(type)).not.toBe(type)
  expect(eventTypeWords('moon.full')).toBe('moon.full')
})

test('a route says what it takes, and when it tells', () => {
  expect(routeWords(route)).toBe('everything')
  expect(routeTimes(route)).toBe('together every 5m, again every 4h')
  const narrow = { ...route, types: ['run.failed', 'loss.near'], topics: ['orders.*'], owners: ['jo'] }
  expect(routeWords({ ...narrow, min_severity: 'warning' })).toBe(
    'run.failed and loss.near of orders.*, owned by jo, from warning on',
  )
  expect(routeTimes({ ...route, quiet: '22:00-07:00', dead_threshold: 1000 })).toBe(
    'together every 5m, again every 4h, quiet 22:00-07:00, from 1,000 DEAD on',
  )
})

test('a delivery says what was told', () => {
  expect(deliveryWords({ kind: 'begin', events: 3 })).toBe('told, 3 events')
  expect(deliveryWords({ kind: 'test', events: 0 })).toBe('a test')
})

test('the verdict says what lasts, that nobody is told, and what was not taken', () => {
  const all = (count: number) => ({ count, more: false })
  expect(eventsVerdict({ lasting: all(0), channels: 1, dead: all(0) })).toBe(
    'Nothing lasts that somebody should have heard of.',
  )
  expect(eventsVerdict({ lasting: all(2), channels: 0, dead: all(1) })).toBe(
    '2 conditions have not ended. No channel is configured: nobody is told. 1 notification was not taken.',
  )
  expect(eventsVerdict({ lasting: all(1), channels: null, dead: null })).toBe('1 condition has not ended.')
  expect(eventsVerdict({ lasting: { count: 50, more: true }, channels: 1, dead: { count: 50, more: true } })).toBe(
    'At least 50 conditions have not ended. At least 50 notifications were not taken.',
  )
})

test('a list is read from commas, spaces and lines', () => {
  expect(listOf(' orders.*, payments\n ,')).toEqual(['orders.*', 'payments'])
})

test('what is typed for a number and is none reaches the API, which refuses it', () => {
  const sent = (text: string) => JSON.stringify({ dead_threshold: numberTyped(text) })
  expect(sent(' 1000 ')).toBe('{"dead_threshold":1000}')
  expect(sent(' ')).toBe('{"dead_threshold":null}')
  expect(sent('1,000')).toBe('{"dead_threshold":"1,000"}')
})
