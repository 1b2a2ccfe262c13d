// Pauses the automatic retries of an error group when many of them fail again. Then a few messages are sent as probes,
// to see whether the cause is gone. Every retrier runs this; a lock lets one of them do it at a time.

import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import {
  addGroupRetries,
  endProbes,
  forgetGroupRetries,
  type GroupPause,
  listCountedTopics,
  listPauses,
  listRefailingGroups,
  listRefailingTopics,
  type Probe,
  pauseGroup,
  postponePaused,
  readProbes,
  resumeGroup,
  startProbes,
} from 'dlq-core/queries/groups/group-pauses.ts'
import { askForLook } from 'dlq-core/queries/readers/reader-watch.ts'
import { listUnstored } from 'dlq-core/queries/readers/unstored-topics.ts'
import { tryLock } from 'dlq-core/queries/try-lock.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { judgeProbes, postponeMs, probeAfterMs, probesAtOnce, quietMs, whyPause } from './judge-group.ts'
import type { RetryCounts } from './retry-counts.ts'

export type GroupPauses = {
  /** The paused groups of a topic, as of the last review. */
  ofTopic(topic: string): readonly string[]
  /** One pass: pauses, probes and resumes groups, and reads which are paused now. */
  review(): Promise<{ more: boolean }>
}

export type GroupPausesDeps = {
  sql: Database
  log: Log
  loadPolicies: () => Promise<void>
  policyOf: PolicyOf
  retryCounts: Pick<RetryCounts, 'write'>
  /** By the database's clock, which the times of probes are of. */
  now: () => Date
}

/** A longer window of a policy is cut to this. */
const longestWindowMs = 86_400_000
/** While an answer is waited for, the groups are looked at this often. */
const lookWhileProbingMs = 2000
/** After this many there are probably more, and until they are put off every claim of every topic reads past them. */
const manyPostponed = 100
/** Counts are kept for at least this long, so that a window that becomes longer has some to begin with. */
const keepCountsMs = 600_000

export function createGroupPauses(deps: GroupPausesDeps): GroupPauses {
  const { sql, loadPolicies, retryCounts } = deps
  let paused = new Map<string, string[]>()
  /** When putting off what is due began; null where the last pass has put off the rest, or failed. */
  let puttingOffSince: number | null = null
  return {
    ofTopic: (topic) => paused.get(topic) ?? [],
    async review() {
      const since = puttingOffSince ?? performance.now()
      puttingOffSince = null
      await loadPolicies()
      await retryCounts.write((counts) => addGroupRetries(sql, counts))
      await sql.begin(async (sql) => {
        if (!(await tryLock(sql, 'dlq.review_groups'))) return
        await pauseRefailing(deps, sql)
        for (const pause of await listPauses(sql)) await reviewPause(deps, sql, pause)
      })
      const byTopic = Map.groupBy(await listPauses(sql), ({ original_topic }) => original_topic)
      paused = new Map([...byTopic].map(([topic, of]) => [topic, of.map(({ group_id }) => group_id)]))
      let more = false
      for (const [topic, of] of byTopic) {
        const puttingOffMs = performance.now() - since
        const forMs = Math.min(...of.map((pause) => putOffMs(deps, pause, puttingOffMs)))
        const count = await postponePaused(sql, { topic, groupIds: paused.get(topic)!, forMs, spreadMs: forMs / 2 })
        more ||= count >= manyPostponed
      }
      if (more) puttingOffSince = since
      return { more }
    },
  }
}

/** Until the group's probes, sent or still to be sent, may have an answer. */
function putOffMs({ policyOf, now }: GroupPausesDeps, pause: GroupPause, puttingOffMs: number): number {
  const policy = policyOf(pause)
  const untilAnswerMs = pause.probe_at.getTime() - now().getTime() + quietMs(policy, pause.refails_after_ms)
  return postponeMs(policy, { untilAnswerMs, puttingOffMs })
}

async function pauseRefailing({ log, policyOf }: GroupPausesDeps, sql: Transaction): Promise<void> {
  const topics = await listRefailingTopics(sql, { withinMs: longestWindowMs })
  const policies = new Map(topics.map((topic) => [topic.original_topic, policyOf(topic)]))
  const rules = [...policies].flatMap(([topic, { refailureThreshold: threshold, refailureWindowMs, delivery }]) =>
    threshold === null || delivery === 'pull'
      ? []
      : [{ topic, threshold, windowMs: Math.min(refailureWindowMs, longestWindowMs) }],
  )
  for (const group of await listRefailingGroups(sql, rules)) {
    const { original_topic: topic, group_id: groupId } = group
    const policy = policies.get(topic)!
    const reason = whyPause(group, policy)
    if (reason === null) continue
    await pauseGroup(sql, { ...group, reason, probeAfterMs: probeAfterMs(policy, 0) })
    log.warn({ topic, groupId, reason }, 'group_paused')
  }
  // Of every topic with retries, because one that has had no re-failures yet may have some within its window.
  const windows = (await listCountedTopics(sql)).map((topic) => {
    const { refailureThreshold, refailureWindowMs } = policyOf(topic)
    return refailureThreshold === null ? 0 : Math.min(refailureWindowMs, longestWindowMs)
  })
  await forgetGroupRetries(sql, { olderThanMs: Math.max(keepCountsMs, ...windows.map((windowMs) => 2 * windowMs)) })
}

async function reviewPause(
  { log, policyOf, now }: GroupPausesDeps,
  sql: Transaction,
  pause: GroupPause,
): Promise<void> {
  const { original_topic, group_id, failed_probes, refails_after_ms } = pause
  const policy = policyOf(pause)
  const where = { topic: original_topic, groupId: group_id }
  const resume = async (why: string) => {
    await resumeGroup(sql, pause)
    log.info({ ...where, why }, 'group_resumed')
  }
  if (policy.refailureThreshold === null || policy.delivery === 'pull')
    return resume('the policy asks for no pauses any more')
  const group = { original_topic, group_id, ordered: policy.ordering === 'per-key' }
  const sent = await readProbes(sql, { ...group, quietMs: quietMs(policy, refails_after_ms) })
  if (sent.length === 0) {
    if (pause.probe_at > now()) return
    const probes = await startProbes(sql, { ...group, count: probesAtOnce })
    if (probes > 0) log.info({ ...where, probes }, 'group_probed')
    else await resume('nothing of it waits')
    return
  }
  const states = sent.map(({ state }) => state)
  switch (judgeProbes(states, policy)) {
    case 'wait':
      return askForLook(sql, { withinMs: lookWhileProbingMs })
    case 'resume':
      return (await isSilenceKnown(sql, sent)) ? resume('the probes did not fail again') : undefined
    case 'again':
      return endProbes(sql, { ...pause, nextAfterMs: 0, failed: false })
    case 'failed': {
      const nextAfterMs = probeAfterMs(policy, failed_probes + 1)
      await endProbes(sql, { ...pause, nextAfterMs, failed: true })
      log.info({ ...where, nextAfterMs }, 'group_probe_failed')
    }
  }
}

/** Whether the dead letters of the time since the probes were read are stored: else nobody knows what came back. */
async function isSilenceKnown(sql: Transaction, sent: readonly Probe[]): Promise<boolean> {
  const published = sent.filter(({ state }) => state === 'published')
  const topics = published.flatMap(({ cluster, topic }) =>
    cluster === null || topic === null ? [] : [{ cluster, topic }],
  )
  const agoMs = Math.min(...published.map(({ ago_ms }) => ago_ms!))
  return (await listUnstored(sql, { topics, agoMs })).length === 0
}
