// Somebody who changes something through the API all the time, and remembers what the API has accepted.

import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import type { Fleet } from '../fleet/service-fleet.ts'

export type OperatorChanges = {
  /** Ends, and returns how many of the accepted changes the database does not have. */
  countLost(sql: postgres.Sql): Promise<{ accepted: number; lost: number }>
}

const changeMs = 100
const answerMs = 5000

/** Each change is a policy for a topic that does not exist. Begins at once. */
export function startOperator(fleet: Fleet): OperatorChanges {
  const accepted: string[] = []
  let isOver = false
  const change = async (pattern: string) => {
    const init = {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ max_retries: 7 }),
      signal: AbortSignal.timeout(answerMs),
    }
    const answer = await fleet.request(`/api/v1/policies/${pattern}`, init).catch(() => null)
    if (answer?.status === 200) accepted.push(pattern)
  }
  const changing = (async () => {
    for (let n = 0; !isOver; n += 1) {
      await change(`operator-${n}`)
      await sleep(changeMs)
    }
  })()
  return {
    async countLost(sql) {
      isOver = true
      await changing
      const rows = await sql<{ pattern: string }[]>`select pattern from dlq.dlq_policies`
      const kept = new Set(rows.map(({ pattern }) => pattern))
      return { accepted: accepted.length, lost: accepted.filter((pattern) => !kept.has(pattern)).length }
    },
  }
}
