// The state of the installation as a list of checks: what is fine, what to look at, what to act on, and what to do.

import { relativeTime, spanText } from '../time.ts'
import { type LossFacts, lossLevel, notLookedFor } from '../topics/loss.ts'
import { counted, listed, numberText } from '../words.ts'

export type CheckLevel = 'fine' | 'look' | 'act'

export type Check = {
  readonly id: string
  readonly name: string
  readonly level: CheckLevel
  readonly text: string
  /** What somebody does about it; null where nothing is to be done. */
  readonly advice: string | null
}

export type SystemFacts = {
  readonly counts: { readonly PENDING: number }
  readonly dlq_topics: number
  readonly stored_at: string | null
  readonly paused_groups: number
  readonly summary: { readonly counted_at: string; readonly drift: number; readonly unfolded: number } | null
  readonly loss_clock: readonly (LossFacts & { readonly topic: string })[]
  readonly paused_topics: readonly { readonly topic: string; readonly what: string; readonly by: string }[]
  readonly held_topics: readonly { readonly topic: string; readonly reason: string }[]
  readonly ingesters: readonly {
    readonly id: string
    readonly lag: number
    readonly fault: string | null
    readonly partitions: readonly unknown[]
  }[]
  readonly retriers: readonly { readonly id: string; readonly publishes: string; readonly fault: string | null }[]
}

export type ReadyFacts = { readonly status: string; readonly checks: Readonly<Record<string, string>> }

export type JobFacts = {
  readonly name: string
  readonly schedule: string | null
  readonly last: { readonly outcome: string | null; readonly error: string | null; readonly tick: string } | null
}

/** Unfolded counts beyond this slow every list down. */
const manyUnfolded = 1_000_000

/** Null: not known yet, or not told to this token. The worst come first; among equals the order is that of the records' way. */
export function systemChecks(
  { status, ready, jobs }: { status: SystemFacts | null; ready: ReadyFacts | null; jobs: readonly JobFacts[] | null },
  now: number,
): Check[] {
  const checks = [
    ...(ready === null ? [] : [readyCheck(ready)]),
    ...(status === null
      ? []
      : [
          ingesterCheck(status),
          lossCheck(status, now),
          retrierCheck(status),
          pauseCheck(status),
          groupCheck(status),
          ...countCheck(status, now),
        ]),
    ...(jobs === null ? [] : [jobCheck(jobs)]),
  ]
  const order: readonly CheckLevel[] = ['act', 'look', 'fine']
  return checks.toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
}

/** That all is fine, or which checks are not. */
export function systemVerdict(checks: readonly Check[]): string {
  const of = (level: CheckLevel) => checks.filter((check) => check.level === level)
  const acts = of('act')
  const looks = of('look')
  if (acts.length + looks.length === 0) return `All ${numberText(checks.length)} checks are fine.`
  const names = (some: readonly Check[]) => listed(some.map(({ name }) => name))
  return [
    ...(acts.length > 0 ? [`Needs somebody now: ${names(acts)}.`] : []),
    ...(looks.length > 0 ? [`Worth a look: ${names(looks)}.`] : []),
  ].join(' ')
}

function readyCheck({ status, checks }: ReadyFacts): Check {
  const bad = Object.entries(checks).filter(([, state]) => state !== 'ok')
  const good = status === 'ready' && bad.length === 0
  return {
    ...{ id: 'ready', name: 'API and database', level: good ? 'fine' : 'act' },
    text: good
      ? 'The API is ready, and so is what it needs.'
      : bad.map(([name, state]) => `${name}: ${state}`).join('; ') || 'The API is not ready.',
    advice: good
      ? null
      : 'Look at the log of the API and at PostgreSQL. Nothing is lost: Kafka keeps the records until their retention.',
  }
}

/** The status lists no more of an ingester. */
const listedPartitions = 1000

function ingesterCheck({ ingesters, dlq_topics, stored_at }: SystemFacts): Check {
  const base = { id: 'ingesters', name: 'ingestion' } as const
  const fault = ingesters.find((one) => one.fault !== null)
  const partitions = ingesters.reduce((sum, one) => sum + one.partitions.length, 0)
  const lag = ingesters.reduce((sum, one) => sum + one.lag, 0)
  if (ingesters.length === 0)
    return {
      ...base,
      level: dlq_topics === 0 && stored_at === null ? 'look' : 'act',
      text: 'No ingester has been seen within the last minute: nothing is read from Kafka.',
      advice:
        'Start an ingester, and look at the log of the last one. The loss clock says how long Kafka keeps what waits.',
    }
  const isCut = ingesters.some((one) => one.partitions.length >= listedPartitions)
  const howMany = `${isCut ? 'at least ' : ''}${counted(partitions, 'partition')}`
  const text = `${counted(ingesters.length, 'ingester reads', 'ingesters read')} ${howMany}; ${counted(lag, 'record is', 'records are')} not stored yet.`
  if (fault !== undefined)
    return {
      ...base,
      level: 'act',
      text: `${text} ${fault.id}: ${fault.fault}`,
      advice: 'Repair what the fault names; the ingester goes on by itself.',
    }
  return { ...base, level: 'fine', text, advice: null }
}

function lossCheck({ loss_clock }: SystemFacts, now: number): Check {
  const base = { id: 'loss', name: 'the loss clock' } as const
  const worst = loss_clock.filter((clock) => lossLevel(clock, now) === 'act')
  const soon = loss_clock.filter((clock) => lossLevel(clock, now) === 'look')
  const unseen = loss_clock.filter((clock) => notLookedFor(clock, now) !== null)
  const names = (clocks: readonly { topic: string }[]) => listed(clocks.slice(0, 3).map(({ topic }) => topic))
  if (worst.length > 0)
    return {
      ...{ ...base, level: 'act' },
      text: `Records are lost unread, or will be within the hour: ${names(worst)}.`,
      advice:
        'Raise retention.ms of these topics now (their pages have the command), then find out why ingestion is behind.',
    }
  if (soon.length > 0 || unseen.length > 0)
    return {
      ...{ ...base, level: 'look' },
      text:
        soon.length > 0
          ? `Kafka deletes unread records within six hours: ${names(soon)}.`
          : `Nobody has looked at ${names(unseen)} for a minute or more.`,
      advice:
        soon.length > 0
          ? 'Raise retention.ms of these topics, or give ingestion more partitions or ingesters.'
          : 'Look whether an ingester is running.',
    }
  return { ...base, level: 'fine', text: 'Nothing is near its expiry.', advice: null }
}

const publishes: Readonly<Record<string, string>> = {
  'exactly-once': 'exactly once',
  'at-least-once': 'at least once',
  resolve: 'marked as sent without publishing',
  nothing: 'nothing',
}

function retrierCheck({ retriers, counts, held_topics }: SystemFacts): Check {
  const base = { id: 'retriers', name: 'retries' } as const
  const fault = retriers.find((one) => one.fault !== null)
  const sends = retriers.some((one) => one.publishes !== 'nothing')
  if (retriers.length === 0 || !sends)
    return {
      ...{ ...base, level: counts.PENDING > 0 ? 'act' : 'look' },
      text:
        retriers.length === 0
          ? 'No retrier has been seen within the last minute: nothing is sent.'
          : `No retrier can publish: ${fault?.fault ?? 'they are configured to publish nothing'}.`,
      advice: 'Start a retrier, or repair what stops it. Waiting messages lose nothing but time.',
    }
  const how = listed([...new Set(retriers.map((one) => publishes[one.publishes] ?? one.publishes))])
  const text = `${counted(retriers.length, 'retrier sends', 'retriers send')}: ${how}.`
  if (fault !== undefined)
    return {
      ...base,
      level: 'look',
      text: `${text} ${fault.id}: ${fault.fault}`,
      advice: 'Repair what the fault names; other retriers go on meanwhile.',
    }
  if (held_topics.length > 0)
    return {
      ...{ ...base, level: 'look' },
      text: `${text} ${held_topics.map(({ topic, reason }) => `${topic} is held and only probed: ${reason}`).join('; ')}`,
      advice: 'Records for these topics are refused in a row. Once they are taken again, retries go on by themselves.',
    }
  return { ...base, level: 'fine', text, advice: null }
}

function pauseCheck({ paused_topics }: SystemFacts): Check {
  const base = { id: 'pauses', name: 'paused topics' } as const
  if (paused_topics.length === 0) return { ...base, level: 'fine', text: 'Nobody has paused a topic.', advice: null }
  return {
    ...{ ...base, level: paused_topics.some(({ what }) => what === 'ingestion') ? 'look' : 'fine' },
    text: `${paused_topics.map(({ topic, what, by }) => `${what} of ${topic} by ${by}`).join('; ')}.`,
    advice: paused_topics.some(({ what }) => what === 'ingestion')
      ? 'While ingestion is paused, Kafka goes on deleting. Resume it in time: the page of the topic shows how long there is.'
      : null,
  }
}

function groupCheck({ paused_groups }: SystemFacts): Check {
  return {
    ...{ id: 'groups', name: 'paused groups', level: 'fine', advice: null },
    text:
      paused_groups === 0
        ? 'Automatic retries of every error group go on.'
        : `Automatic retries of ${counted(paused_groups, 'error group', 'error groups')} are paused, because too many came back. Each is probed and goes on by itself.`,
  }
}

function countCheck({ summary }: SystemFacts, now: number): Check[] {
  if (summary === null) return []
  const { drift, unfolded, counted_at } = summary
  const many = unfolded > manyUnfolded
  const good = drift === 0 && !many
  return [
    {
      ...{ id: 'counts', name: 'the counts', level: good ? 'fine' : 'look' },
      text:
        drift === 0
          ? `Counted ${relativeTime(Date.parse(counted_at), now, spanText)}, without a difference; ${counted(unfolded, 'change is', 'changes are')} not added up yet.`
          : `The last count found ${counted(drift, 'message', 'messages')} that the counts had missed or had too many; it has put that right.`,
      advice: good
        ? null
        : drift === 0
          ? 'The job that adds changes up is behind: look at the scheduled jobs below.'
          : 'Once is harmless. Again and again, tell the maintainers.',
    },
  ]
}

function jobCheck(jobs: readonly JobFacts[]): Check {
  const failed = jobs.filter(({ last }) => last?.outcome === 'failed')
  const base = { id: 'jobs', name: 'scheduled jobs' } as const
  if (failed.length > 0)
    return {
      ...{ ...base, level: 'look' },
      text: `${listed(failed.map(({ name }) => name))} failed the last time: ${failed[0]!.last!.error ?? 'no error was kept'}`,
      advice: 'Repair what the error names, then run the job now.',
    }
  const on = jobs.filter(({ schedule }) => schedule !== null).length
  return {
    ...base,
    level: 'fine',
    text: `${counted(on, 'job is', 'jobs are')} scheduled; none failed the last time.`,
    advice: null,
  }
}
