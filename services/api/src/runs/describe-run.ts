// One run with what has to be looked up for it: why it stands still, and what came in since.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { laggingGroup } from 'dlq-core/domain/message/max-lag.ts'
import { canaryOf, type RunSelection, waitingOf } from 'dlq-core/domain/message/run.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import { listReaderLags } from 'dlq-core/queries/readers/lagging-readers.ts'
import { countMessages, type Total } from 'dlq-core/queries/reading/message-search.ts'
import { resolveTopic } from 'dlq-core/queries/reading/message-topic.ts'
import { readFleetStatus } from 'dlq-core/queries/reading/status.ts'
import { listTopicPauses } from 'dlq-core/queries/retry/topic-pauses.ts'
import { countActiveRuns } from 'dlq-core/queries/runs/run-admission.ts'
import { listTopicsOfRun } from 'dlq-core/queries/runs/run-messages.ts'
import type { RunView } from 'dlq-core/queries/runs/runs.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import type { Call } from '../http/define-route.ts'
import { shown } from '../masks/shown.ts'
import { pausedWords } from '../pauses/pause-json.ts'
import { runHeldUpBy, type TopicOfRun } from './run-held-up.ts'
import { type RunJson, runJson } from './run-json.ts'

type Describing = Pick<Call, 'sql' | 'policies' | 'access' | 'sight'>

/** Topics of a run that are looked at; more would not be read. */
const topicsLookedAt = 20
/** As often as the summary of a stream changes; what arrives later is counted up to here. */
const mostArrived = 1000
const mostExamined = 500

/** `arrived`: also counts what came in since, which costs more than the rest. */
export async function describeRun(call: Describing, run: RunView, { arrived = true } = {}): Promise<RunJson> {
  const { sql, access, sight } = call
  // Its messages may be of any topic.
  const asShown = shown(run, sight, 'anywhere')
  const [heldUpBy, arrivedSince] = await Promise.all([
    run.ended_at === null ? whyHeldUp(call, asShown) : [],
    arrived ? countArrived(sql, { run, scope: access.topics }) : null,
  ])
  return runJson(asShown, { heldUpBy, arrivedSince })
}

async function whyHeldUp(
  { sql, policies, access: { topics: scope }, sight }: Describing,
  run: RunView,
): Promise<string[]> {
  const [topics, status, activeRuns] = await Promise.all([
    listTopicsOfRun(sql, { runId: run.id, limit: topicsLookedAt }),
    readFleetStatus(sql, { scope }),
    run.status === 'queued' ? countActiveRuns(sql) : 0,
    policies.refresh(),
  ])
  const named = topics.flatMap(({ original_topic, dlq_topic }) => [
    original_topic,
    ...(dlq_topic === null ? [] : [dlq_topic]),
  ])
  const pauses = await listTopicPauses(sql, { scope: null, topics: named })
  const pauseOf = new Map(pauses.filter(({ what }) => what === 'retries').map((pause) => [pause.topic, pause]))
  const refusedOf = new Map(status.held_topics.map(({ topic, reason }) => [topic, reason]))
  const addressed = topics.map((of) => {
    const policy = policies.policyOf(of)
    const message = { target_topic: run.target_topic, original_topic: of.original_topic, consumer_group: null }
    return { ...of, policy, target: targetOf(message, policy) }
  })
  const maxLag = run.max_lag
  const lags = maxLag === null ? [] : await listReaderLags(sql, [...new Set(addressed.map(({ target }) => target))])
  const described = addressed.map(({ original_topic, dlq_topic, policy, target }): TopicOfRun => {
    const pause = pauseOf.get(original_topic) ?? (dlq_topic === null ? undefined : pauseOf.get(dlq_topic))
    // Who may not see a topic learns nothing of its groups.
    const isSeen = scope === null || matchesTopicGlobs(scope, target)
    return {
      topic: pause?.topic ?? original_topic,
      policy,
      paused: pause === undefined ? null : pausedWords(pause, { scope, sight }),
      lagging: maxLag === null || !isSeen ? null : laggingGroup(lags, { topic: target, maxLag }),
      refused: refusedOf.get(target) ?? null,
    }
  })
  return runHeldUpBy({
    status: run.status,
    statusReason: run.status_reason,
    activeRuns,
    ratePerSecond: run.rate_per_second,
    withoutKafka: status.retriers.length > 0 && status.retriers.every(({ publishes }) => publishes === 'nothing'),
    withoutRetriers: status.retriers.length === 0,
    kafkaFault: kafkaFault(status.retriers, scope),
    waiting: waitingOf(run),
    quietForMs: quietForMs(run, new Date()),
    topics: described,
  })
}

/** Null where one of the retriers can publish. A fault may name any topic. */
function kafkaFault(retriers: readonly { fault: string | null }[], scope: TopicScope): string | null {
  const fault = retriers[0]?.fault ?? null
  if (fault === null || retriers.some((retrier) => retrier.fault === null)) return null
  return scope === null ? fault : 'Kafka is away, or refuses'
}

function quietForMs(run: RunView, now: Date): number | null {
  const canary = canaryOf(run)
  if (canary === null || run.judged_at !== null || (run.step !== 'first' && run.step !== 'share')) return null
  const quietSince = run.last_settled_at ?? run.started_at ?? run.created_at
  return Math.max(0, canary.waitMs - (now.getTime() - quietSince.getTime()))
}

/** The messages that the run's filter finds and that came in after the cutoff; null where it has no filter, or for the archive. */
async function countArrived(
  sql: Call['sql'],
  { run, scope }: { run: RunView; scope: TopicScope },
): Promise<Total | null> {
  const selection = JSON.parse(run.selection) as RunSelection
  if (!('filter' in selection) || selection.filter.archived) return null
  const { filter } = selection
  // The first full millisecond after the cutoff.
  const cutoff = new Date(run.cutoff.getTime() + 1).toISOString()
  const from = filter.from !== undefined && filter.from > cutoff ? filter.from : cutoff
  if (filter.to !== undefined && filter.to <= from) return { value: 0, relation: 'eq' }
  const topic = filter.topic === undefined ? null : await resolveTopic(sql, filter.topic)
  const search = { filter: { ...filter, from }, topic, scope, sort: 'newest' as const }
  return countMessages(sql, { search, atMost: mostArrived, atMostRead: mostExamined })
}
