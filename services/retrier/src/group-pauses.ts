// Suspicion: where many retries of one error group fail again, its automatic retries are paused, and one
// message at a time is sent to see whether it is over. Any number of retriers may do this; one does.

import {
  endProbe,
  type GroupPause,
  listBursts,
  listPauses,
  listRefailingTopics,
  pauseGroup,
  postponePaused,
  readProbe,
  resumeGroup,
  startProbe,
} from 'dlq-core/queries/group-pauses.ts'
import { tryLock } from 'dlq-core/queries/try-lock.ts'
import type { RetryPolicy } from 'dlq-core/retry-policy.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

export type GroupPauses = {
  /** The paused groups of a topic, as last read. */
  ofTopic(topic: string): readonly string[]
  /** One pass: pauses, probes, resumes, and reads what is paused now. */
  review(): Promise<{ more: boolean }>
}

export type GroupPausesDeps = {
  sql: Database
  log: Log
  loadPolicies: () => Promise<void>
  policyOf: (topics: { original_topic: string; dlq_topic: string | null }) => RetryPolicy
}

/** Longer windows than this are cut off. */
const longestWindowMs = 86_400_000
const longestProbeWaitMs = 3_600_000

export function createGroupPauses(deps: GroupPausesDeps): GroupPauses {
  const { sql, loadPolicies } = deps
  let paused = new Map<string, string[]>()
  return {
    ofTopic: (topic) => paused.get(topic) ?? [],
    async review() {
      await loadPolicies()
      await sql.begin(async (sql) => {
        if (!(await tryLock(sql, 'dlq.review_groups'))) return
        await pauseBursts(deps, sql)
        for (const pause of await listPauses(sql)) await reviewPause(deps, sql, pause)
      })
      const pauses = await listPauses(sql)
      paused = new Map(
        [...Map.groupBy(pauses, ({ original_topic }) => original_topic)].map(([topic, of]) => [
          topic,
          of.map(({ group_id }) => group_id),
        ]),
      )
      for (const [topic, groupIds] of paused) {
        const { refailureWindowMs: forMs } = deps.policyOf(
          pauses.find(({ original_topic }) => original_topic === topic)!,
        )
        await postponePaused(sql, { topic, groupIds, forMs, spreadMs: forMs / 2 })
      }
      return { more: false }
    },
  }
}

async function pauseBursts({ log, policyOf }: GroupPausesDeps, sql: Transaction): Promise<void> {
  const topics = await listRefailingTopics(sql, { withinMs: longestWindowMs })
  const policies = new Map(topics.map((topic) => [topic.original_topic, policyOf(topic)]))
  const rules = [...policies].flatMap(([topic, { refailureThreshold: threshold, refailureWindowMs, delivery }]) =>
    threshold === null || delivery === 'pull'
      ? []
      : [{ topic, threshold, windowMs: Math.min(refailureWindowMs, longestWindowMs) }],
  )
  for (const { original_topic, group_id, refailures } of await listBursts(sql, rules)) {
    const { refailureWindowMs } = policies.get(original_topic)!
    const reason = `${refailures} retries failed again within ${Math.round(refailureWindowMs / 1000)} s`
    await pauseGroup(sql, { original_topic, group_id, reason, probeAfterMs: refailureWindowMs })
    log.warn({ topic: original_topic, groupId: group_id, reason }, 'group_paused')
  }
}

async function reviewPause({ log, policyOf }: GroupPausesDeps, sql: Transaction, pause: GroupPause): Promise<void> {
  const { original_topic, group_id, probe_id, probe_attempt, failed_probes } = pause
  const { refailureThreshold, refailureWindowMs: windowMs, delivery } = policyOf(pause)
  const where = { topic: original_topic, groupId: group_id }
  const resume = async (why: string) => {
    await resumeGroup(sql, pause)
    log.info({ ...where, why }, 'group_resumed')
  }
  if (refailureThreshold === null || delivery === 'pull') return resume('the policy asks for no pauses any more')
  if (probe_id === null || probe_attempt === null) {
    if (pause.probe_at > new Date()) return
    if (await startProbe(sql, pause)) log.info(where, 'group_probed')
    else await resume('nothing of it waits')
    return
  }
  const state = await readProbe(sql, { probe_id, probe_attempt, quietMs: windowMs })
  if (state === 'published') await resume('the probe did not come back')
  else if (state === 'failed_again') {
    const nextAfterMs = Math.min(windowMs * 2 ** (failed_probes + 1), longestProbeWaitMs)
    await endProbe(sql, { ...pause, nextAfterMs, failed: true })
    log.info({ ...where, nextAfterMs }, 'group_probe_failed')
  } else if (state === 'gone') await endProbe(sql, { ...pause, nextAfterMs: 0, failed: false })
}
