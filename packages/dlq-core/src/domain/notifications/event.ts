// What somebody should hear of: a transition, or a condition that begins and ends. Never a payload or a key.

import { hash } from 'node:crypto'
import { formatUuid } from '../record/message-id.ts'

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

/** `lasts`: it begins and ends; the others happen once. */
export const eventTypes = {
  'group.new': { lasts: false },
  'group.regressed': { lasts: false },
  'group.burst': { lasts: true },
  'group.paused': { lasts: false },
  'group.resumed': { lasts: false },
  'dead.threshold': { lasts: true },
  'loss.near': { lasts: true },
  'loss.happened': { lasts: true },
  'run.finished': { lasts: false },
  'run.failed': { lasts: false },
  'run.paused': { lasts: true },
  'sent.unread': { lasts: true },
  'service.silent': { lasts: true },
  'topic.found': { lasts: false },
  'delivery.dead': { lasts: false },
} as const satisfies Record<string, { lasts: boolean }>

export type EventType = keyof typeof eventTypes
export const eventTypeNames = Object.keys(eventTypes) as EventType[]

export type NewEvent = {
  type: EventType
  subject: string
  severity: Severity
  /** One line for people. */
  title: string
  original_topic?: string | null
  dlq_topic?: string | null
  group_id?: string | null
  run_id?: string | null
  owner?: string | null
  data?: Record<string, string | number | boolean | null>
}

export type Event = Required<NewEvent> & { id: string; at: Date; ended_at: Date | null }

/** The id of something that happened once: the same for whoever notices it, however often. */
export function eventId({ type, subject }: Pick<NewEvent, 'type' | 'subject'>, when: string): string {
  return formatUuid(hash('sha256', JSON.stringify([type, subject, when])), 8)
}

export type RouteRules = {
  /** Empty: all; so are the others. */
  types: readonly string[]
  topics: readonly string[]
  owners: readonly string[]
  min_severity: Severity
  dead_threshold: number | null
}

export function severityRank(severity: Severity): number {
  return severities.indexOf(severity)
}
