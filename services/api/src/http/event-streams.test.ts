import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createEventStreams } from './event-streams.ts'

test('a sender holds so many streams at most, and all senders together', async () => {
  const registry = new Registry()
  const streams = createEventStreams(registry, { maxPerActor: 2, maxInAll: 3 })
  const close = streams.open('a')
  streams.open('a')
  expect(() => streams.open('a')).toThrow('too many streams of events are open: a holds 2; close some')
  streams.open('b')
  expect(() => streams.open('c')).toThrow('too many streams of events are open: there are 3; close some')
  expect(await registry.metrics()).toContain('dlq_api_event_streams 3')
  close()
  expect(await registry.metrics()).toContain('dlq_api_event_streams 2')
  streams.open('a')
  expect(() => streams.open('a')).toThrow('a holds 2')
})
