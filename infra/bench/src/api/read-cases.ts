// The reads that the console makes beside lists and details.

import { groupCount, groupIdOf } from './api-rows.ts'
import { runIdOf } from './around-rows.ts'
import { type Case, overviewRate } from './steady-load.ts'

const numbers = Array.from({ length: 100 }, (_, n) => n)
const groupAt = (n: number) => groupIdOf((n * 5) % groupCount)
const day = 86_400_000

/** `ids`: of some messages. */
export function readCases(ids: readonly string[]): Case[] {
  const read = (name: string, path: (n: number) => string): Case => ({
    name,
    paths: [...new Set(numbers.map((n) => `/api/v1/${path(n)}`))],
  })
  /** Adds up all groups, all topics, or the messages of a range. */
  const overview = (name: string, path: (n: number) => string): Case => ({ ...read(name, path), rate: overviewRate })
  const at = (daysAgo: number) => new Date(Date.now() - daysAgo * day).toISOString()
  return [
    ...['last_seen', 'first_seen', 'dead', 'pending', 'total'].map((sort) =>
      overview(`groups, by ${sort}`, () => `groups?limit=50&sort=${sort}`),
    ),
    overview('groups with trend', () => 'groups?limit=20&state=open&trend=true'),
    overview('groups with DEAD ones', () => 'groups?limit=50&with=DEAD&sort=dead'),
    overview('groups of nobody', () => 'groups?limit=50&owner=none'),
    overview('groups, regressed', () => 'groups?limit=50&regressed=true'),
    overview('groups of a DLQ topic', (n) => `groups?limit=50&dlq_topic=topic-${n}.dlq.v1`),
    overview('groups of a consumer group', (n) => `groups?limit=50&consumer_group=group-${n % 7}`),
    overview('groups of a class', (n) => `groups?limit=50&error_class=com.example.E${n}`),
    overview('groups by title', (n) => `groups?limit=50&q=E${n}`),
    read('groups by id', (n) => `groups?ids=${[0, 1, 2].map((m) => groupAt(n + m)).join()}`),
    read('previews', () => 'messages?limit=50&show=preview'),
    read('previews of a group', (n) => `messages?limit=50&show=preview&group_id=${groupAt(n)}`),
    read('previews of a topic', (n) => `dlq/topic-${n}?limit=50&show=preview`),
    overview('activity of a day', () => 'activity'),
    overview('activity of a day, by topic', () => 'activity?by=topic'),
    overview('activity of a week', () => `activity?from=${at(7)}&step=6h`),
    overview('activity of a group', (n) => `activity?group_id=${groupAt(n)}`),
    overview('activity of a topic, by group', (n) => `activity?topic=topic-${n}&by=group`),
    overview('facets of all', () => 'messages/facets'),
    overview('facets of a topic', (n) => `messages/facets?topic=topic-${n}`),
    overview('facets of a group', (n) => `messages/facets?group_id=${groupAt(n)}`),
    read('attempts of all', () => 'attempts'),
    read('attempts of a group', (n) => `attempts?group_id=${groupAt(n)}`),
    read('attempts of a topic', (n) => `attempts?topic=topic-${n}`),
    read('attempts that failed', () => 'attempts?outcome=failed'),
    { name: 'attempts of one', paths: ids.map((id) => `/api/v1/dlq/messages/${id}/attempts`) },
    { name: 'edits of one', paths: ids.map((id) => `/api/v1/dlq/messages/${id}/edits`) },
    read('runs', () => 'runs'),
    read('runs that are active', () => 'runs?status=running,paused,queued,cancelling'),
    read('runs of a group', (n) => `runs?group_id=${groupAt(n)}`),
    read('one run', (n) => `runs/${runIdOf(n)}`),
    read('run items', (n) => `runs/${runIdOf(n * 2)}/items`),
    read('run items with messages', (n) => `runs/${runIdOf(n * 2)}/items?show=message`),
    overview('topics by DEAD', () => 'topics?limit=50&sort=dead'),
    overview('topics by expiry', () => 'topics?limit=50&sort=expires'),
    read('topics by name', (n) => `topics?limit=50&q=c-${n}`),
    read('topics that lose', () => 'topics?limit=50&only=losing'),
    overview('original topics', () => 'topics?limit=50&kind=original&sort=pending'),
    read('one topic', (n) => `topics/topic-${n}.dlq.v1`),
    read('readers of a topic', (n) => `topics/topic-${n}/readers`),
    overview('consumer groups', () => 'consumer-groups'),
    read('me', () => 'me'),
    read('policies', () => 'policies'),
    read('routes', () => 'routes'),
    read('positions', () => 'positions'),
    read('cron', () => 'cron'),
    read('audit', () => 'audit'),
    read('audit of a topic', (n) => `audit?topic=topic-${n}`),
    overview('audit by reason', (n) => `audit?q=ticket+${n}00`),
    read('audit of a person', (n) => `audit?actor=person-${n % 20}`),
    { name: 'audit of a message', paths: ids.map((id) => `/api/v1/audit?target_type=message&target_id=${id}`) },
    overview('audit around a group', (n) => `audit?related=true&target_type=group&target_id=${groupAt(n)}`),
    overview('audit around a run', (n) => `audit?related=true&target_type=run&target_id=${runIdOf(n)}`),
    // Each is a connection and a stream of its own, of which there may be ten.
    { name: 'events, the first', paths: ['/api/v1/events'], rate: 5, streams: true },
  ]
}
