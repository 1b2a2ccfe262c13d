// The answer of the first page: what burns, and what is about to be lost. The worst comes first, three sentences at most.

import { type BurningCounts, burningWords } from './groups/burning.ts'
import type { StatusCounts } from './states.ts'
import { spanText } from './time.ts'
import { capital, counted, listed, numberText } from './words.ts'

export type NowFacts = {
  readonly counts: StatusCounts
  readonly oldest_pending_at: string | null
  readonly ingest: { readonly per_minute: number }
  readonly retry: { readonly per_minute: number; readonly success_rate: number | null }
  readonly loss_clock: readonly {
    readonly topic: string
    readonly lag: number
    readonly lost: number
    readonly expires_at: string | null
    readonly looked_at: string | null
    readonly loss: string | null
  }[]
  readonly dlq_topics: number
  readonly stored_at: string | null
  readonly paused_groups: number
  readonly paused_topics: readonly { readonly topic: string; readonly what: string; readonly by: string }[]
  readonly held_topics: readonly { readonly topic: string; readonly reason: string }[]
  readonly retriers: readonly { readonly publishes: string; readonly fault: string | null }[]
}

const soonMs = 6 * 3_600_000

export type Sentence = { readonly text: string; readonly severity: 'act' | 'look' | 'fine' }

/** `groups`: the open ones; null while they are not known. */
export function nowVerdict(facts: NowFacts, groups: BurningCounts | null, now: number): Sentence[] {
  const bad = [...lossSentences(facts, now), ...fleetSentences(facts), ...pauseSentences(facts)]
  const work = workSentence(facts, groups, now)
  const retries = retrySentence(facts)
  const acts = bad.filter(({ severity }) => severity === 'act')
  const looks = bad.filter(({ severity }) => severity === 'look')
  return [...acts, work, ...looks, ...retries, ...fineSentence(facts, bad)].slice(0, 3)
}

function lossSentences({ loss_clock }: NowFacts, now: number): Sentence[] {
  const losing = loss_clock.filter(({ lost }) => lost > 0)
  if (losing.length > 0) {
    const lost = losing.reduce((sum, { lost }) => sum + lost, 0)
    return [
      {
        severity: 'act',
        text: `${counted(lost, 'record was', 'records were')} lost unread in ${listed(losing.slice(0, 3).map(({ topic }) => topic))}: raise retention.ms now, then ingestion.`,
      },
    ]
  }
  const soon = loss_clock.find(({ expires_at }) => expires_at !== null && Date.parse(expires_at) - now < soonMs)
  if (soon === undefined) return []
  const leftMs = Date.parse(soon.expires_at!) - now
  return [
    {
      severity: leftMs < soonMs / 6 ? 'act' : 'look',
      text: `${counted(soon.lag, 'record', 'records')} of ${soon.topic} wait unread; Kafka deletes the first ${leftMs <= 0 ? 'at any time' : `in ${spanText(leftMs)}`}.`,
    },
  ]
}

function fleetSentences({ retriers, counts, held_topics }: NowFacts): Sentence[] {
  const fault = retriers.find(({ fault }) => fault !== null)?.fault
  const sends = retriers.some(({ publishes }) => publishes !== 'nothing')
  if (!sends && counts.PENDING > 0)
    return [
      {
        severity: 'act',
        text: `Nothing is sent: ${retriers.length === 0 ? 'no retrier is running' : (fault ?? 'no retrier can publish')}.`,
      },
    ]
  const held = held_topics[0]
  if (held !== undefined)
    return [{ severity: 'look', text: `${held.topic} is held and only probed: ${held.reason.replace(/\.$/, '')}.` }]
  return fault ? [{ severity: 'look', text: `A retrier says: ${fault.replace(/\.$/, '')}.` }] : []
}

/** What somebody has stopped: from outside it looks like a fault. */
function pauseSentences({ paused_topics }: NowFacts): Sentence[] {
  const [first, ...others] = paused_topics
  if (first === undefined) return []
  const more = others.length === 0 ? '' : `, and ${numberText(others.length)} more`
  return [{ severity: 'look', text: `${first.by} has paused ${first.what} of ${first.topic}${more}.` }]
}

function workSentence({ counts, oldest_pending_at }: NowFacts, open: BurningCounts | null, now: number): Sentence {
  const burning = open?.burning ?? 0
  const fresh = open?.fresh ?? 0
  const groups =
    open === null || burning === 0
      ? ''
      : `${capital(burningWords(open))}${fresh === 0 ? '' : `, ${numberText(fresh)} ${fresh === 1 ? 'is' : 'are'} new`}. `
  if (counts.DEAD === 0 && counts.PENDING + counts.RETRYING === 0)
    return { severity: 'fine', text: groups === '' ? 'No dead letters are open.' : `${groups}Nothing waits.` }
  const waits = counts.PENDING + counts.RETRYING
  const oldest =
    oldest_pending_at === null || waits === 0 ? '' : `, the oldest for ${spanText(now - Date.parse(oldest_pending_at))}`
  const parts = [
    ...(counts.DEAD > 0 ? [`${counted(counts.DEAD, 'message is', 'messages are')} DEAD`] : []),
    ...(waits > 0
      ? [
          counts.DEAD > 0
            ? `${numberText(waits)} ${waits === 1 ? 'waits' : 'wait'}`
            : counted(waits, 'message waits', 'messages wait'),
        ]
      : []),
  ]
  return {
    severity: burning > 0 || counts.DEAD > 0 ? 'look' : 'fine',
    text: `${groups}${parts.join(' and ')}${oldest}.`,
  }
}

function retrySentence({ retry, paused_groups }: NowFacts): Sentence[] {
  const paused =
    paused_groups === 0
      ? ''
      : ` Automatic retries of ${counted(paused_groups, 'group', 'groups')} are paused and probed.`
  if (retry.per_minute === 0) return paused === '' ? [] : [{ severity: 'look', text: paused.trim() }]
  const share = retry.success_rate
  const stayed = share === null ? '' : `; ${Math.floor(share * 100)} % of those sent in the last 5 m have stayed away`
  return [{ severity: 'fine', text: `Retries go out at ${perMinute(retry.per_minute)}${stayed}.${paused}` }]
}

function fineSentence({ dlq_topics, stored_at, loss_clock }: NowFacts, bad: readonly Sentence[]): Sentence[] {
  if (bad.length > 0 || dlq_topics === 0) return []
  if (loss_clock.length === 0 && stored_at !== null) return [{ severity: 'fine', text: 'Nothing is near its expiry.' }]
  return []
}

export function perMinute(value: number): string {
  return `${value >= 10 ? numberText(Math.round(value)) : value.toFixed(1).replace(/\.0$/, '')}/min`
}
