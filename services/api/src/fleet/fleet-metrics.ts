// Gauges of the fleet as a whole, beside the API's own metrics. Every API shows the same of them, so queries take the
// maximum over the replicas, never the sum. They are at most ten seconds old. While scrapes come, a timer reads the next
// values in time, so only the first scrape waits for a reading. While the database does not answer they are missing,
// because old values would hide the outage.

import { type Status, statuses } from 'dlq-core/domain/retry/message-state.ts'
import { pausables } from 'dlq-core/queries/retry/topic-pauses.ts'
import { others, weightiest } from 'dlq-core/runtime/bounded-labels.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { Gauge, type Registry } from 'prom-client'
import { noConsumer } from './no-consumer.ts'
import { type FleetReading, readFleet } from './read-fleet.ts'

export type FleetMetricsDeps = {
  sql: Database
  registry: Registry
  log: Log
  now?: () => number
  read?: (sql: Database) => Promise<FleetReading>
}

const freshMs = 10_000
/** Reads again before the last reading is stale. */
const rereadMs = 8000
/** After this time without a scrape, reading stops. */
const forgottenMs = 120_000
/** A scrape waits at most this long for the database; a later result is part of the next scrape. */
const patienceMs = 3000

/** Registers the gauges; they fill themselves when the registry is asked for its metrics. */
export function createFleetMetrics({ sql, registry, log, now = Date.now, read = readFleet }: FleetMetricsDeps): void {
  let readAt = Number.NEGATIVE_INFINITY
  let scrapedAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | null = null
  let next: NodeJS.Timeout | undefined

  async function readNow(): Promise<void> {
    const since = performance.now()
    const found = await read(sql).catch((error) => {
      log.info({ error }, 'fleet_metrics_failed')
      return null
    })
    readAt = now()
    clear(gauges)
    gauges.up.set(found === null ? 0 : 1)
    if (found === null) return
    gauges.seconds.set((performance.now() - since) / 1000)
    fill(gauges, found, now())
  }

  function startReading(): Promise<void> {
    reading ??= readNow().finally(() => {
      reading = null
      clearTimeout(next)
      if (now() - scrapedAt < forgottenMs) next = setTimeout(startReading, rereadMs).unref()
    })
    return reading
  }

  async function refresh(): Promise<void> {
    scrapedAt = now()
    // Where the clock was set back, this is below zero.
    if (Math.abs(scrapedAt - readAt) < freshMs) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        clear(gauges)
        gauges.up.set(0)
        resolve()
      }, patienceMs)
    })
    await Promise.race([startReading(), late])
    clearTimeout(timer)
  }

  const gauges = createGauges(registry, refresh)
}

type Gauges = ReturnType<typeof createGauges>

/** Without labels, reset() would set it to 0, which was never measured. */
function clear(gauges: Gauges): void {
  for (const gauge of Object.values(gauges)) {
    gauge.reset()
    gauge.remove({})
  }
}

function createGauges(registry: Registry, refresh: () => Promise<void>) {
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    // All gauges wait for the same refresh, so they show one reading.
    new Gauge({ name, help, labelNames, registers: [registry], collect: refresh })
  return {
    up: gauge('dlq_fleet_up', '1 where the database told what the other gauges of the fleet say, else 0.'),
    seconds: gauge('dlq_fleet_read_seconds', 'How long reading the gauges of the fleet took.'),
    messages: gauge(
      'dead_letter_total',
      'Dead letters in dlq_messages, by original topic and status; exact. Those that their route holds count under their DLQ topic.',
      ['topic', 'status'],
    ),
    age: gauge(
      'dead_letter_age_seconds',
      'How long the oldest PENDING, and the oldest DEAD, dead letter of an original topic has waited; of those that their route holds, under their DLQ topic.',
      ['topic', 'status'],
    ),
    dead: gauge(
      'dead_job_count',
      'DEAD messages of a consumer group (consumer) and original topic (channel; the DLQ topic where the route holds them); exact.',
      ['channel', 'consumer'],
    ),
    due: gauge(
      'dlq_due_messages',
      'Messages that are due. The count stops at 20,000, evenly over the topics, and then means "at least".',
      ['topic'],
    ),
    dueAge: gauge('dlq_due_age_seconds', 'For how long the most overdue message of an original topic has been due.', [
      'topic',
    ]),
    sentUnread: gauge(
      'dlq_unread_attempts',
      'Retries that were published to a topic and that their consumer group has not read. The count stops at 1,000 a partition, and then means "at least".',
      ['topic'],
    ),
    sentUnreadAge: gauge(
      'dlq_unread_age_seconds',
      'How long the oldest retry of a topic has waited for its consumer group to read it.',
      ['topic'],
    ),
    watchLag: gauge(
      'dlq_watch_lag',
      'Records of a topic that retries were sent to which a consumer group (consumer) has not read, retries or not.',
      ['topic', 'consumer'],
    ),
    topics: gauge('dlq_topics', 'DLQ topics that exist in Kafka.'),
    unread: gauge(
      'dlq_topic_unread_records',
      'The lag of a DLQ topic: offsets that Kafka holds and that are not stored.',
      ['topic'],
    ),
    lost: gauge(
      'dlq_topic_lost_records',
      'Offsets that retention deleted before they were stored, above the position.',
      ['topic'],
    ),
    expiry: gauge(
      'dlq_topic_expiry_timestamp_seconds',
      'When retention may delete the oldest record that is not stored; missing where no record waits, or none expires.',
      ['topic'],
    ),
    lookedAt: gauge(
      'dlq_topics_looked_at_timestamp_seconds',
      'When an ingester last read the log bounds of the topic that was read longest ago.',
    ),
    storedAt: gauge('dlq_stored_timestamp_seconds', 'When the last message was stored.'),
    retriers: gauge(
      'dlq_retriers',
      'Live retriers by state: publishing, faulty (Kafka fails, or PostgreSQL refuses), idle (no Kafka configured).',
      ['state'],
    ),
    pausedGroups: gauge('dlq_paused_groups', 'Error groups whose automatic retries are paused.'),
    pausedTopics: gauge(
      'dlq_paused_topics',
      'Topics that somebody has paused, by what is paused: retries, or ingestion of a DLQ topic.',
      ['what'],
    ),
    drift: gauge(
      'dlq_summary_drift',
      'By how many messages the counts were wrong at the last full count; should be 0.',
    ),
    unfolded: gauge('dlq_summary_unfolded', 'Deltas that are not folded into the summary yet.'),
    countedAt: gauge('dlq_summary_counted_timestamp_seconds', 'When all messages were last counted.'),
  }
}

function fill(gauges: Gauges, reading: FleetReading, now: number): void {
  const { summary, counts, oldest, due, lags, status, pauses } = reading
  if (counts !== null) fillCounts(gauges, counts)
  const ageOf = (since: Date) => Math.max(0, (now - since.getTime()) / 1000)
  for (const status of ['PENDING', 'DEAD'] as const)
    for (const [topic, since] of oldest[status]) gauges.age.set({ topic, status }, ageOf(since))
  for (const { original_topic: topic, due_at, due: count } of due) {
    gauges.dueAge.set({ topic }, ageOf(due_at))
    gauges.due.set({ topic }, count)
  }
  fillLags(gauges, lags)
  fillReaders(gauges, reading, ageOf)

  gauges.topics.set(status.dlq_topics)
  gauges.pausedGroups.set(status.paused_groups)
  for (const what of pausables) gauges.pausedTopics.set({ what }, 0)
  for (const { what, topics } of pauses) gauges.pausedTopics.set({ what }, topics)
  if (status.stored_at) gauges.storedAt.set(status.stored_at.getTime() / 1000)
  for (const state of ['publishing', 'faulty', 'idle']) gauges.retriers.set({ state }, 0)
  for (const { publishes, fault } of status.retriers)
    gauges.retriers.inc({ state: publishes === 'nothing' ? 'idle' : fault === null ? 'publishing' : 'faulty' })
  gauges.drift.set(summary.drift)
  gauges.unfolded.set(summary.deltas)
  if (summary.counted_at) gauges.countedAt.set(summary.counted_at.getTime() / 1000)
}

function fillCounts(gauges: Gauges, counts: NonNullable<FleetReading['counts']>): void {
  const topics = new Map<string, { topic: string; total: number } & Record<Status, number>>()
  for (const line of counts) {
    const { original_topic: topic } = line
    const sum = topics.get(topic) ?? { topic, total: 0, PENDING: 0, RETRYING: 0, RESOLVED: 0, DEAD: 0 }
    for (const status of statuses) sum[status] += line[status]
    // RESOLVED messages need no work, so their topics are not named here.
    sum.total = sum.PENDING + sum.RETRYING + sum.DEAD
    topics.set(topic, sum)
  }
  for (const [sum, isNamed] of weightiest([...topics.values()], ({ total }) => total)) {
    for (const status of statuses) gauges.messages.inc({ topic: isNamed ? sum.topic : others, status }, sum[status])
  }
  for (const [{ original_topic, consumer_group, DEAD }, isNamed] of weightiest(counts, (line) => line.DEAD)) {
    const [channel, consumer] = isNamed ? [original_topic, consumer_group ?? noConsumer] : [others, others]
    gauges.dead.inc({ channel, consumer }, DEAD)
  }
}

function fillReaders(
  gauges: Gauges,
  { unread, readerLags }: Pick<FleetReading, 'unread' | 'readerLags'>,
  ageOf: (since: Date) => number,
): void {
  for (const [{ target_topic: topic, unread: count }, isNamed] of weightiest(unread, (of) => of.unread)) {
    gauges.sentUnread.inc({ topic: isNamed ? topic : others }, count)
  }
  // Not those with most: a single one that waits for long is news.
  for (const [{ target_topic: topic, since }, isNamed] of weightiest(unread, (of) => ageOf(of.since)))
    if (isNamed) gauges.sentUnreadAge.set({ topic }, ageOf(since))
  for (const [{ target_topic: topic, consumer_group: consumer, lag }, isNamed] of weightiest(
    readerLags,
    (of) => of.lag,
  ))
    gauges.watchLag.inc(isNamed ? { topic, consumer } : { topic: others, consumer: others }, lag)
}

function fillLags(gauges: Gauges, lags: FleetReading['lags']): void {
  for (const [{ topic, lag, lost }, isNamed] of weightiest(lags, ({ lag, lost }) => Number(lag + lost))) {
    const label = isNamed ? topic : others
    gauges.unread.inc({ topic: label }, Number(lag))
    gauges.lost.inc({ topic: label }, Number(lost))
  }
  const expiries = new Map<string, number>()
  for (const { topic, expires_at: expiresAt } of lags) {
    // Two clusters may have a topic of this name; the one that loses a record first counts.
    const expiry = expiresAt && Math.min(expiresAt.getTime() / 1000, expiries.get(topic) ?? Number.POSITIVE_INFINITY)
    if (expiry !== null) expiries.set(topic, expiry)
  }
  // Not those with most: of a topic with a single record that record is what is lost.
  for (const [[topic, expiry], isNamed] of weightiest([...expiries], ([, expiry]) => -expiry))
    if (isNamed) gauges.expiry.set({ topic }, expiry)
  const looks = lags.flatMap(({ looked_at: lookedAt }) => (lookedAt ? [lookedAt.getTime()] : []))
  if (looks.length > 0) gauges.lookedAt.set(Math.min(...looks) / 1000)
}
