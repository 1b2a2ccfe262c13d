import type { GroupRetries } from 'dlq-core/queries/groups/group-pauses.ts'
import { expect, test } from 'vitest'
import { createRetryCounts } from './retry-counts.ts'

test('retries are counted by topic and error group until they are written, also where writing failed', async () => {
  const counts = createRetryCounts()
  const [topic, group] = [{ original_topic: 'orders' }, { group_id: 'a' }]
  for (const message of [
    { ...topic, ...group },
    { ...topic, ...group },
    { ...topic, group_id: null },
  ])
    counts.add(message)
  await expect(counts.write(() => Promise.reject(new Error('the database is away')))).rejects.toThrow('away')
  counts.add({ original_topic: 'payments', ...group })

  const written: GroupRetries[] = []
  const write = async (rows: readonly GroupRetries[]) => void written.push(...rows)
  await counts.write(write)
  await counts.write(write)
  expect(written).toEqual([
    { ...topic, ...group, published: 2 },
    { original_topic: 'payments', ...group, published: 1 },
  ])
})
