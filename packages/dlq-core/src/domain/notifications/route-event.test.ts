import { describe, expect, test } from 'vitest'
import { type Event, eventId, type RouteRules } from './event.ts'
import { sendAt, takesEvent, waitAfterMs } from './route-event.ts'

const event: Event = {
  ...{ id: '1', type: 'group.new', subject: 'group/1/orders.dlq.v1', severity: 'warning', title: 'New error group' },
  ...{ original_topic: null, dlq_topic: 'orders.dlq.v1', group_id: '1', run_id: null, owner: 'billing', data: {} },
  ...{ at: new Date(0), ended_at: null },
}
const all: RouteRules = { types: [], topics: [], owners: [], min_severity: 'info', dead_threshold: null }

describe('a route takes an event', () => {
  test.each<[string, Partial<RouteRules>, Partial<Event>, boolean]>([
    ['of any type, where it names none', {}, {}, true],
    ['of its types', { types: ['group.new'] }, {}, true],
    ['of no other type', { types: ['run.failed'] }, {}, false],
    ['of its topics', { topics: ['orders.*'] }, {}, true],
    ['of no other topic', { topics: ['payments.*'] }, {}, false],
    ['without a topic only where it names none', { topics: ['*'] }, { dlq_topic: null }, false],
    ['of its severity and above', { min_severity: 'warning' }, {}, true],
    ['of no lower severity', { min_severity: 'critical' }, {}, false],
    ['of its owners', { owners: ['billing'] }, {}, true],
    ['of no other owner', { owners: ['search'] }, {}, false],
    ['of its own threshold', { dead_threshold: 10 }, { type: 'dead.threshold', data: { threshold: 10 } }, true],
    ['of no other threshold', { dead_threshold: 20 }, { type: 'dead.threshold', data: { threshold: 10 } }, false],
  ])('%s', (_, rules, fields, expected) => {
    expect(takesEvent({ ...all, ...rules }, { ...event, ...fields })).toBe(expected)
  })
})

describe('a delivery', () => {
  const now = new Date('2026-01-10T23:00:00Z')
  const timing = { digestMs: 300_000, quiet: null }
  test('is sent at once where the route was quiet, and otherwise after its digest', () => {
    expect(sendAt(event, timing, { now, lastAt: null })).toEqual(now)
    expect(sendAt(event, timing, { now, lastAt: new Date('2026-01-10T22:58:00Z') })).toEqual(
      new Date('2026-01-10T23:03:00Z'),
    )
    expect(sendAt(event, timing, { now, lastAt: new Date('2026-01-10T20:00:00Z') })).toEqual(now)
  })
  test('waits for the end of quiet hours, unless it is critical', () => {
    const quiet = { ...timing, quiet: '22:00-07:00 UTC' }
    expect(sendAt(event, quiet, { now, lastAt: null })).toEqual(new Date('2026-01-11T07:00:00Z'))
    expect(sendAt({ severity: 'critical' }, quiet, { now, lastAt: null })).toEqual(now)
    const before = { now: new Date('2026-01-11T21:58:00Z'), lastAt: new Date('2026-01-11T21:57:00Z') }
    expect(sendAt(event, quiet, before)).toEqual(new Date('2026-01-12T07:00:00Z'))
  })
  test('is tried twelve times in about sixteen hours', () => {
    const waits = Array.from({ length: 12 }, (_, n) => waitAfterMs(n + 1))
    expect(waits.filter((wait) => wait !== null)).toHaveLength(11)
    expect(waits.at(-1)).toBeNull()
    expect(waits.reduce<number>((sum, wait) => sum + (wait ?? 0), 0) / 3_600_000).toBeCloseTo(15.8, 1)
  })
})

test('what happened once has one id, whoever notices it', () => {
  expect(eventId(event, '2026-01-10')).toBe(eventId(event, '2026-01-10'))
  expect(eventId(event, '2026-01-11')).not.toBe(eventId(event, '2026-01-10'))
})
