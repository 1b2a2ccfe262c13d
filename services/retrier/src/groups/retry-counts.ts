// How many retries of each error group this retrier has published. Counted in memory, and written every few seconds:
// a pause is judged by the share of retries that fail again.

import type { GroupRetries } from 'dlq-core/queries/groups/group-pauses.ts'

export type RetryCounts = {
  add(message: { original_topic: string; group_id: string | null }): void
  /** Hands over what was counted since the last time. It stays counted where writing fails. */
  write(write: (counts: readonly GroupRetries[]) => Promise<void>): Promise<void>
}

/** A plain bound: more groups are not counted until the next time. */
const maxGroups = 10_000

export function createRetryCounts(): RetryCounts {
  let counts = new Map<string, GroupRetries>()

  function addCount({ original_topic, group_id, published }: GroupRetries): void {
    const key = `${group_id} ${original_topic}`
    const known = counts.get(key)
    if (known !== undefined) known.published += published
    else if (counts.size < maxGroups) counts.set(key, { original_topic, group_id, published })
  }

  return {
    add({ original_topic, group_id }) {
      if (group_id !== null) addCount({ original_topic, group_id, published: 1 })
    },
    async write(write) {
      const taken = [...counts.values()]
      counts = new Map()
      try {
        await write(taken)
      } catch (error) {
        for (const count of taken) addCount(count)
        throw error
      }
    },
  }
}
