// What the tables say has happened, and what lasts, as events. Reads and words only; watch-events.ts stores and routes.

import { isSent } from 'dlq-core/domain/message/run.ts'
import type { EventType, NewEvent, Severity } from 'dlq-core/domain/notifications/event.ts'
import { listIngestLag } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { type Burst, listBursts, type OpenBurst } from 'dlq-core/queries/notifications/bursts.ts'
import type { Happened } from 'dlq-core/queries/notifications/events.ts'
import { type FoundCandidate, listFoundCandidates } from 'dlq-core/queries/notifications/found-topics.ts'
import {
  type GroupHappening,
  ingestersSilentMs,
  listDeadTopics,
  listGroupHappenings,
  listRunHappenings,
  type RunHappening,
} from 'dlq-core/queries/notifications/happenings.ts'
import { listUnreadTopics } from 'dlq-core/queries/readers/unread.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

/** The conditions that this file knows; each look says of all of them whether they last. */
export const watchedConditions: readonly EventType[] = [
  ...([
    'dead.threshold',
    'group.burst',
    'loss.near',
    'loss.happened',
    'run.paused',
    'sent.unread',
    'service.silent',
  ] as const),
]

export type Found = { happened: Happened[]; conditions: NewEvent[] }

/** `openDead`: the subjects of thresholds that are passed at present; these end a tenth below. */
export type FindDeps = {
  after: Date
  now: Date
  thresholds: readonly number[]
  openDead: ReadonlySet<string>
  /** The error groups whose bursts are noted and not over. */
  openBursts: readonly OpenBurst[]
  /** Titles may quote the error's message. */
  includeMessages: boolean
}

const hourMs = 3_600_000
const unreadForMs = 15 * 60_000
const silentForMs = 2 * 60_000
const lossNear = { warningMs: 6 * hourMs, criticalMs: hourMs }
const lookedInto = { partitions: 2000, perPartition: 1000 }

export async function findEvents(sql: Sql, deps: FindDeps): Promise<Found> {
  const groups = (await listGroupHappenings(sql, deps)).map((group) => groupEvent(group, deps))
  const runs = await listRunHappenings(sql, deps)
  return {
    happened: [
      ...groups,
      ...runs.filter(({ status }) => status !== 'paused').map(endedRun),
      ...(await listFoundCandidates(sql, deps)).map(foundTopic),
    ],
    conditions: [
      ...runs.filter(({ status }) => status === 'paused').map(pausedRun),
      ...(await listBursts(sql, { now: deps.now, open: deps.openBursts })).map((burst) => groupBurst(burst, deps)),
      ...(await deadTopics(sql, deps)),
      ...(await losses(sql, deps)),
      ...(await unreadTopics(sql, deps)),
      ...(await silence(sql)),
    ],
  }
}

const groupWords: Record<GroupHappening['type'], string> = {
  'group.new': 'New error group',
  'group.regressed': 'Failed again after it was resolved',
  'group.paused': 'Automatic retries are paused',
  'group.resumed': 'Automatic retries go on',
}

function groupEvent({ when, reason, title, ...group }: GroupHappening, { includeMessages }: FindDeps): Happened {
  const topic = group.dlq_topic ?? group.original_topic
  const severity: Severity = group.type === 'group.resumed' ? 'info' : 'warning'
  const of = includeMessages ? `: ${oneLine(title)}` : ''
  const why = reason !== null && group.type === 'group.paused' ? `; ${reason}` : ''
  return {
    ...{ ...group, severity, when, subject: `group/${group.group_id}/${topic}` },
    title: `${groupWords[group.type]} on ${topic}${of}${why}`,
    data: { reason },
  }
}

function groupBurst(
  { group_id, title, dlq_topic, owner, in_5m: count }: Burst,
  { includeMessages }: FindDeps,
): NewEvent {
  const of = includeMessages ? `: ${oneLine(title)}` : ''
  return {
    ...{ type: 'group.burst', subject: `group/${group_id}/${dlq_topic}`, severity: 'warning' },
    ...{ group_id, dlq_topic, owner },
    // The number changes at every look; a title that changes is written at every look.
    title: `Fails at least five times as often as in the last day, on ${dlq_topic}${of}`,
    data: { in_5m: count },
  }
}

function foundTopic({ topic, cluster, family, when }: FoundCandidate): Happened {
  return {
    ...{ type: 'topic.found', subject: `topic/${cluster}/${topic}`, severity: 'info', when, dlq_topic: topic },
    title: `${topic} looks like a DLQ topic, and nobody ingests it`,
    data: { family },
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200)
}

function endedRun(run: RunHappening): Happened {
  const { id, kind, status, status_reason: reason, done, resolved, failed_again: back } = run
  const isFailure = status === 'failed'
  const ended = { completed: 'has ended', cancelled: 'was cancelled', failed: 'has failed', paused: '' }[status]
  const outcome = isSent(kind) ? `${resolved + back} sent, ${back} came back` : `${done} messages done`
  return {
    ...{ type: isFailure ? 'run.failed' : 'run.finished', subject: `run/${id}`, run_id: id, when: status },
    severity: isFailure ? 'warning' : 'info',
    title: `A run of kind ${kind} ${ended}: ${outcome}${reason === null ? '' : `; ${reason}`}`,
    data: runData(run),
  }
}

function pausedRun(run: RunHappening): NewEvent {
  return {
    ...{ type: 'run.paused', subject: `run/${run.id}`, run_id: run.id, severity: 'warning' },
    title: `A run of kind ${run.kind} is paused${run.status_reason === null ? '' : `: ${run.status_reason}`}`,
    data: runData(run),
  }
}

function runData({
  actor,
  taken,
  done,
  resolved,
  failed,
  failed_again,
  verdicts,
}: RunHappening): NonNullable<NewEvent['data']> {
  const counted = verdicts === null ? {} : (JSON.parse(verdicts) as Record<string, number>)
  return { actor, taken, done, resolved, failed, failed_again, ...counted }
}

async function deadTopics(sql: Sql, { thresholds, openDead }: FindDeps): Promise<NewEvent[]> {
  if (thresholds.length === 0) return []
  const topics = await listDeadTopics(sql, { least: Math.floor(0.9 * Math.min(...thresholds)) })
  return thresholds.flatMap((threshold) =>
    topics.flatMap(({ original_topic: topic, dead }): NewEvent[] => {
      const subject = `dead/${topic}/${threshold}`
      // Below a tenth less it is over, so that a number that changes around the threshold is said once.
      if (dead < (openDead.has(subject) ? 0.9 * threshold : threshold)) return []
      const title = `${topic} has at least ${threshold} DEAD messages`
      return [
        { type: 'dead.threshold', subject, severity: 'warning', title, original_topic: topic, data: { threshold } },
      ]
    }),
  )
}

async function losses(sql: Sql, { now }: FindDeps): Promise<NewEvent[]> {
  return (await listIngestLag(sql)).flatMap(({ topic, lost, expires_at: expiresAt }): NewEvent[] => {
    const of = { dlq_topic: topic, subject: `topic/${topic}` }
    const leftMs = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - now.getTime()
    const isNear = leftMs < lossNear.warningMs
    const isCritical = leftMs < lossNear.criticalMs
    const within = isCritical ? 'an hour' : 'six hours'
    const near: NewEvent = {
      ...{ ...of, type: 'loss.near', severity: isCritical ? 'critical' : 'warning' },
      title: `Kafka deletes records of ${topic} that are not ingested within ${within}`,
      data: { expires_at: expiresAt?.toISOString() ?? null },
    }
    const happened: NewEvent = {
      ...{ ...of, type: 'loss.happened', severity: 'critical' },
      title: `Retention deleted records of ${topic} before they were ingested`,
      data: { lost: String(lost) },
    }
    return [...(isNear ? [near] : []), ...(lost > 0n ? [happened] : [])]
  })
}

async function unreadTopics(sql: Sql, { now }: FindDeps): Promise<NewEvent[]> {
  return (await listUnreadTopics(sql, lookedInto)).flatMap(({ target_topic: topic, since }): NewEvent[] => {
    if (now.getTime() - since.getTime() < unreadForMs) return []
    return [
      {
        ...{ type: 'sent.unread', subject: `topic/${topic}`, severity: 'warning', original_topic: topic },
        title: `Retries sent to ${topic} have not been read for a quarter of an hour`,
        data: { since: since.toISOString() },
      },
    ]
  })
}

async function silence(sql: Sql): Promise<NewEvent[]> {
  const ms = await ingestersSilentMs(sql)
  if (ms === null || ms < silentForMs) return []
  const title = 'No ingester has looked at Kafka for two minutes'
  return [{ type: 'service.silent', subject: 'ingesters', severity: 'critical', title, data: {} }]
}
