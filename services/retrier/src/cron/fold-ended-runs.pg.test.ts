import { randomUUID } from 'node:crypto'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { foldEndedRuns } from './fold-ended-runs.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const { signal } = new AbortController()
const endedAt = new Date('2026-02-20T12:00:00Z')

async function insertRun(ended: boolean): Promise<string> {
  const id = randomUUID()
  await database.sql`
    insert into dlq.dlq_runs (id, kind, actor, selection, until_id, matched, matched_relation, status, ended_at, last_settled_at, resolved)
    values (${id}, 'retry', 'maria', '{}', ${id}, 9, 'eq', ${ended ? 'completed' : 'running'}, ${ended ? endedAt : null}, ${endedAt}, 9)`
  return id
}

test('what failed again after a run had ended is added to it, and nothing is left of a deleted run', async () => {
  const [ended, other, running, deleted] = [
    await insertRun(true),
    await insertRun(true),
    await insertRun(false),
    randomUUID(),
  ]
  for (const id of [ended, running, deleted])
    for (let n = 0; n < 3; n += 1)
      await database.sql`
        insert into dlq.dlq_run_deltas (run_id, outcome, n) values (${id}, 'failed_again', 1), (${id}, 'resolved', -1)`

  expect(await foldEndedRuns(service.sql, signal)).toBe(1)
  const runs = await database.sql`
    select id, resolved::int, failed_again::int, last_settled_at from dlq.dlq_runs order by failed_again desc, ended_at, id`
  expect(runs.find(({ id }) => id === ended)).toEqual({
    id: ended,
    resolved: 6,
    failed_again: 3,
    last_settled_at: endedAt,
  })
  for (const id of [other, running])
    expect(runs.find((run) => run.id === id)).toMatchObject({ resolved: 9, failed_again: 0 })
  // Its own steps add them up.
  const left = await database.sql`select run_id as id, count(*)::int as n from dlq.dlq_run_deltas group by 1`
  expect([...left]).toEqual([{ id: running, n: 6 }])
  expect(await foldEndedRuns(service.sql, signal)).toBe(0)
})
