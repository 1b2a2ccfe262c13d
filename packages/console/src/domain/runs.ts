// A bulk run in words. "Sent" is what the run did; whether it worked is seen by what comes back.

import { type RunKind, undoKinds } from 'dlq-core/domain/message/run-kinds.ts'
import { rateNumber } from './charts/rate-points.ts'
import { numberText, plural } from './words.ts'

export type RunFacts = {
  readonly kind: string
  /** Of kind origin: whether what differs takes the place of its copy. */
  readonly adopt?: boolean
  readonly status: string
  readonly selection: Readonly<Record<string, unknown>>
  readonly matched: { readonly value: number; readonly relation: 'eq' | 'gte' }
  readonly target_topic: string | null
  readonly progress: {
    readonly taken: number
    readonly waiting: number
    readonly done: number
    readonly resolved: number
    readonly failed: number
    readonly failed_again: number
    readonly withdrawn: number
    readonly given_back: number
    readonly skipped: Readonly<Record<string, number>>
    /** Of kind origin: how many originals were found in which state. */
    readonly origins?: Readonly<Record<string, number>> | null
    readonly rate: number | null
    readonly eta_seconds: number | null
    /** Null before they were counted. */
    readonly verdicts: RunVerdicts | null
  }
}

export type RunVerdicts = Readonly<
  Record<'sent' | 'passed' | 'consumed' | 'confirmed' | 'came_back' | 'skipped' | 'expired' | 'unknown', number>
>

export type Part = { readonly id: string; readonly label: string; readonly count: number; readonly of: number }

/** What the parts of a run's bar mean, in the order in which they stand. */
export function partsOf(run: RunFacts): Part[] {
  const { matched, progress } = run
  const skipped = skippedOf(run)
  const rest = restOf(run)
  const of = Math.max(matched.value, progress.taken + progress.done + skipped, 1)
  return [
    { id: 'sent', label: 'sent, not back', count: progress.resolved, of },
    { id: 'done', label: 'done', count: progress.done, of },
    { id: 'back', label: 'came back', count: progress.failed_again, of },
    { id: 'refused', label: 'refused', count: progress.failed, of },
    { id: 'withdrawn', label: 'withdrawn', count: progress.withdrawn, of },
    { id: 'given_back', label: 'given back', count: progress.given_back, of },
    { id: 'skipped', label: 'skipped', count: skipped, of },
    { id: 'waiting', label: 'outcome not known yet', count: progress.waiting, of },
    { id: 'rest', label: restLabel(run), count: rest, of },
  ]
}

function skippedOf({ progress }: RunFacts): number {
  return Object.values(progress.skipped).reduce((sum, count) => sum + count, 0)
}

/** Of those that matched when it began, how many it has neither taken, done nor skipped. */
function restOf(run: RunFacts): number {
  const { matched, progress } = run
  return Math.max(0, matched.value - progress.taken - progress.done - skippedOf(run))
}

function restLabel({ status }: RunFacts): string {
  if (activeStatuses.has(status)) return 'not taken yet'
  return status === 'completed' ? 'matched no more' : 'not taken'
}

/** What became of those that a run has come by and that are in none of its counts. Null where there are none, or before its end. */
export function leftWords(run: RunFacts): string | null {
  const rest = restOf(run)
  if (run.status !== 'completed' || run.kind === 'erase' || rest === 0) return null
  return `${numberText(rest)} of the ${totalText(run.matched)} that matched when it began ${plural(rest, 'was', 'were')} left alone: when it came to them, they had been sent by themselves or by somebody else, were just being sent, or had been changed or deleted, and matched no more.`
}

export const activeStatuses: ReadonlySet<string> = new Set(['queued', 'running', 'paused', 'cancelling'])

/** Why an active run can be neither paused nor resumed; null where it can. */
export function whyNotToggled(status: string): string | null {
  if (status === 'queued') return 'it has not begun: wait, or cancel it'
  return status === 'cancelling' ? 'it is being cancelled' : null
}

/** The kind of a run that takes back what an ended one has done; null where there is none. */
export function undoOf({ kind, status, progress }: RunFacts): RunKind | null {
  return activeStatuses.has(status) || progress.done === 0 ? null : (undoKinds[kind as RunKind] ?? null)
}

/** Whether a run of this kind sends messages: at a rate, with a canary, and what it sent may come back. */
export function sends(kind: string): boolean {
  return kind === 'retry' || kind === 'redirect'
}

const verbs: Readonly<Record<string, string>> = {
  retry: 'retry',
  redirect: 'redirect',
  revive: 'revive',
  dead: 'give up',
  delete: 'delete',
  archive: 'archive',
  purge: 'purge',
  edit: 'change',
  erase: 'erase',
  origin: 'compare with originals',
}

/**
 * "retry · 343 messages": those that matched when it began, or what it has taken, where that is more. What was being sent
 * when the matching were counted may be taken too.
 */
export function runTitle({ kind, matched, target_topic, adopt = false, progress }: RunFacts): string {
  const to = kind === 'redirect' && target_topic !== null ? ` to ${target_topic}` : ''
  const count = Math.max(matched.value, progress.taken + progress.done)
  const total = count > matched.value ? numberText(count) : totalText(matched)
  return `${verbs[kind] ?? kind} · ${total} ${plural(count, 'message')}${to}${adopt ? ', and adopt' : ''}`
}

/** "34 of 185 sent, 11 came back, 38/s, about 3 s left". */
export function progressWords(run: RunFacts): string {
  const { status, progress } = run
  const acted = progress.resolved + progress.failed_again + progress.done
  const verb = sends(run.kind) ? 'sent' : 'done'
  const words = [`${actedWords(run, acted)} ${verb}`]
  if (progress.failed_again > 0) words.push(`${numberText(progress.failed_again)} came back`)
  if (progress.failed > 0) words.push(`${numberText(progress.failed)} refused`)
  if (status !== 'running') words.unshift(status)
  if (status === 'running' && progress.rate !== null) words.push(`${rateNumber(progress.rate)}/s`)
  if (status === 'running' && progress.eta_seconds !== null) words.push(`about ${etaText(progress.eta_seconds)} left`)
  return words.join(', ')
}

/** "34 of 185". What was being sent when the matching were counted may be taken too: then there are more, and no "of". */
export function actedWords({ matched }: RunFacts, acted: number): string {
  return acted > matched.value ? numberText(acted) : `${numberText(acted)} of ${totalText(matched)}`
}

function etaText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} m` : `${Math.ceil(seconds / 3600)} h`
}

export function totalText({ value, relation }: { readonly value: number; readonly relation: 'eq' | 'gte' }): string {
  return relation === 'gte' ? `≥ ${numberText(value)}` : numberText(value)
}

export function rateText(ratePerSecond: number | null): string {
  return ratePerSecond === null ? 'no limit' : `${ratePerSecond}/s`
}

export const rateChoices = [
  { id: '1', text: '1 a second', value: 1 },
  { id: '10', text: '10 a second', value: 10 },
  { id: '50', text: '50 a second', value: 50 },
  { id: '100', text: '100 a second', value: 100 },
  { id: 'free', text: 'as fast as policies allow', value: null },
] as const
