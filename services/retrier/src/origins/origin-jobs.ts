// The jobs about originals. Only retriers with Kafka have them: graphile-worker gives a job to nobody else.

import { compareTask, listWantedOrigins } from 'dlq-core/queries/origin/origins.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import type { TaskList } from 'graphile-worker'
import type { CronJob } from '../cron/cron-job.ts'
import { type CompareDeps, compareMessage } from './compare-message.ts'

export type OriginDeps = Omit<CompareDeps, 'policyOf'> & { policies: PolicySource }

/** One tick looks for so many at most; the next one goes on. */
const perTick = 500

/** Compares one message, because somebody has asked. */
export function originTasks({ policies, ...deps }: OriginDeps): TaskList {
  return {
    [compareTask]: async (payload) => {
      await policies.refresh()
      await compareMessage({ ...deps, policyOf: policies.policyOf }, (payload as { id: string }).id)
    },
  }
}

/** Looks again for originals that could not be read. */
export function originJob({ policies, schedule, ...deps }: OriginDeps & { schedule: string }): CronJob {
  return {
    name: 'origin',
    schedule,
    async run({ signal }) {
      await policies.refresh()
      let compared = 0
      for (const id of await listWantedOrigins(deps.sql, { limit: perTick })) {
        signal.throwIfAborted()
        await compareMessage({ ...deps, policyOf: policies.policyOf }, id)
        compared += 1
      }
      return { compared }
    },
  }
}
