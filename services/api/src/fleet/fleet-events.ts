// Tells listeners what changes in the fleet. One loop asks the database for all of them, while there are any. It keeps
// what changed in the last minutes, so that a stream that broke off continues where it ended.

import { randomUUID } from 'node:crypto'
import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { type FleetSnapshot, type HeardBy, readFleetChanges } from 'dlq-core/queries/history/fleet-changes.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { createWake, runLoop, type Wake } from 'dlq-core/runtime/run-loop.ts'
import { timestamp } from '../messages/timestamp.ts'
import { noMessages } from './totals-json.ts'

export type FleetNews = {
  id: string
  at: string
  /** The listener has missed changes, or has just begun: it should read everything again. */
  missed: boolean
  /** The messages of all topics that the listener may see, by status. */
  counts: typeof noMessages
  groups: string[]
  runs: string[]
  /** More groups have changed than are named. */
  more: boolean
}

export type FleetListener = {
  /** The next news, or null where there is none within `waitMs`. */
  next(options: { waitMs: number; signal: AbortSignal }): Promise<FleetNews | null>
  close(): void
}

export type FleetEvents = {
  /** `after`: the id of the last news that the listener has seen. */
  listen(options: { scope: TopicScope; after: string | undefined }): FleetListener
}

/** Kept for listeners that come back. */
const maxKept = 300
const maxNamed = 200
/** Long enough for a client that connects again. */
const lingerMs = 30_000
/** With the loop's jitter, a second at least. */
const pauseMs = 1120
/** Reading takes a tenth of the time at most. */
const pausePerRead = 9

/** What changed between two snapshots. */
type Step = {
  number: number
  groups: { id: string; heardBy: HeardBy }[]
  runs: { id: string; scope: readonly string[] | null }[]
}

export function createFleetEvents({
  sql,
  log,
  stopping,
}: {
  sql: Database
  log: Log
  stopping: AbortSignal
}): FleetEvents {
  const own = randomUUID().slice(0, 8)
  const listeners = new Set<Wake>()
  let snapshot: FleetSnapshot | null = null
  let steps: Step[] = []
  let number = 0
  let leftAt = 0
  let loop: AbortController | null = null

  const pass = async () => {
    if (listeners.size === 0 && monotonicNow() - leftAt > lingerMs) {
      loop!.abort()
      loop = null
      // What changes from now on, nobody has seen.
      snapshot = null
      steps = []
      return { more: false }
    }
    const startedAt = performance.now()
    const known = snapshot?.runs.filter(({ is_active }) => is_active).map(({ id }) => id) ?? []
    const read = await readFleetChanges(sql, { since: snapshot?.exactlyAt ?? null, known })
    const changed = snapshot === null ? null : changesBetween(snapshot, read)
    const isNews = snapshot === null || changed !== null
    snapshot = read
    if (isNews) {
      number += 1
      if (changed !== null) steps = [...steps.slice(1 - maxKept), { number, ...changed }]
      for (const listener of listeners) listener.notify()
    }
    return { more: false, waitMs: Math.max(pauseMs, (performance.now() - startedAt) * pausePerRead) }
  }
  const start = () => {
    loop = new AbortController()
    const signal = AbortSignal.any([loop.signal, stopping])
    void runLoop(pass, { name: 'fleet_events', intervalMs: pauseMs, signal, log })
  }

  return {
    listen({ scope, after }) {
      const wake = createWake()
      listeners.add(wake)
      if (loop === null) start()
      let seen = numberOf(after, own)
      let sent = ''
      const news = (): FleetNews | null => {
        if (snapshot === null || number === seen) return null
        const counts = countsFor(snapshot, scope)
        // The steps are kept without gaps, so the one after the last seen must be there.
        const missed = seen === null || (steps[0]?.number ?? number + 1) > seen + 1 || seen > number
        const since = missed ? [] : steps.filter((step) => step.number > seen!)
        const groups = [...new Set(since.flatMap((step) => step.groups.filter(sees(scope)).map(({ id }) => id)))]
        const runs = [...new Set(since.flatMap((step) => step.runs.filter(seesRun(scope)).map(({ id }) => id)))]
        seen = number
        const isNews = missed || groups.length > 0 || runs.length > 0 || JSON.stringify(counts) !== sent
        sent = JSON.stringify(counts)
        if (!isNews) return null
        const named = { groups: groups.slice(0, maxNamed), runs: runs.slice(0, maxNamed) }
        const more = groups.length > maxNamed || runs.length > maxNamed
        return { id: `${own}-${number}`, at: timestamp(snapshot.at), missed, counts, ...named, more }
      }
      return {
        async next({ waitMs, signal }) {
          const at = news()
          if (at !== null) return at
          await wake.wait(waitMs, signal)
          return signal.aborted ? null : news()
        },
        close() {
          listeners.delete(wake)
          leftAt = monotonicNow()
        },
      }
    },
  }
}

function numberOf(id: string | undefined, own: string): number | null {
  const [, process, number] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(id ?? '') ?? []
  return process === own ? Number(number) : null
}

/** Null where nothing is different. */
function changesBetween(before: FleetSnapshot, after: FleetSnapshot): Omit<Step, 'number'> | null {
  const keyOf = (line: HeardBy & { status: string; group_id?: string }) =>
    JSON.stringify([line.dlq_topic, line.original_topic, line.status, line.group_id, line.is_held])
  const mapOf = (lines: readonly (Parameters<typeof keyOf>[0] & { count: number })[]) =>
    new Map(lines.map((line) => [keyOf(line), line.count]))
  const groupsBefore = mapOf(before.groups)
  const heardBefore = new Set(before.groupChanges.map(({ id }) => id))
  const runsBefore = new Map(before.runs.map(({ id, version }) => [id, version]))
  const groups = [
    // A group that was not among those of the snapshot before has changed since.
    ...after.groups
      .filter((line) => groupsBefore.get(keyOf(line)) !== line.count)
      .map((line) => ({ id: line.group_id, heardBy: line })),
    ...after.groupChanges
      .filter(({ id }) => !heardBefore.has(id))
      .map(({ group_id: id, dlq_topic, original_topic }) => ({
        id,
        heardBy: { dlq_topic, original_topic, is_held: false },
      })),
  ]
  const runs = after.runs.filter(({ id, version }) => runsBefore.get(id) !== version)
  const [was, is] = [mapOf(before.counts), mapOf(after.counts)]
  const isSame = was.size === is.size && [...is].every(([key, count]) => was.get(key) === count)
  return isSame && groups.length === 0 && runs.length === 0 ? null : { groups, runs }
}

function mayHear(scope: TopicScope, { dlq_topic, original_topic, is_held }: HeardBy): boolean {
  if (scope === null) return true
  const matches = (topic: string | null) => topic !== null && matchesTopicGlobs(scope, topic)
  return matches(dlq_topic) || (matches(original_topic) && !is_held)
}

function sees(scope: TopicScope) {
  return ({ heardBy }: { heardBy: HeardBy }) => mayHear(scope, heardBy)
}

/** As lists of runs do: those of callers with the same limits. */
function seesRun(scope: TopicScope) {
  return (run: { scope: readonly string[] | null }) =>
    scope === null || (run.scope?.every((glob) => scope.includes(glob)) ?? false)
}

function countsFor({ counts }: FleetSnapshot, scope: TopicScope): typeof noMessages {
  const sums = { ...noMessages }
  for (const line of counts) if (mayHear(scope, line)) sums[line.status] += line.count
  return sums
}
