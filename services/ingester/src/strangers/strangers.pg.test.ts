// Teams that may each write one DLQ topic, and write anything there. `npm run soak` stores 100,000 records.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { listCounts } from 'dlq-testing/rows/summary-counts.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileRecords, type Team, teams } from './test-hostile-records.ts'
import { createWorld } from './test-world.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const soak = process.env.DLQ_SOAK === '1'
const recordsPerTurn = soak ? 150 : 40
const size = soak ? { numRuns: 112, turns: 6 } : { numRuns: 6, turns: 6 }

test('whatever a team writes into its DLQ topic, no other team’s row changes, and nothing is sent beyond its routes', async () => {
  const { sql } = database
  const world = await createWorld(service.sql, sql)
  for (const team of teams) {
    // A dead letter that somebody has reported, without any DLQ topic.
    world.ids.push(await insertMessageRow(sql, { original_topic: `${team}.events.v1`, next_retry_at: null }))
  }
  const record = hostileRecords(Date.now())
  const turn = fc.record({
    team: fc.constantFrom<Team[]>(...teams),
    records: fc.array(record, { minLength: recordsPerTurn, maxLength: recordsPerTurn, size: 'max' }),
    after: fc.constantFrom('retry', 'retry', 'archive', 'nothing'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: size.turns, maxLength: size.turns, size: 'max' }), async (plays) => {
      for (const { team, records, after } of plays) {
        await world.store(team, records)
        expect(await world.trespasses()).toEqual([])
        if (after === 'retry') await world.retry()
        if (after === 'archive') await world.archive()
      }
      const strayed = world.published.filter(({ team, topic }) => !isOf(team, topic))
      expect(strayed).toEqual([])
    }),
    {
      numRuns: size.numRuns,
      // The world goes on from run to run, so a smaller example would begin in another one.
      endOnFailure: true,
      ...(process.env.FC_SEED && { seed: Number(process.env.FC_SEED) }),
    },
  )

  // The figures of each team say what its own records came to.
  const figures = (await listCounts(service.sql)).map((row) => JSON.stringify(row))
  const rows = await service.sql`
    select dlq_topic, original_topic, consumer_group, group_id, status, count(*)::float8 as count
    from dlq.dlq_messages group by 1, 2, 3, 4, 5`
  expect(figures.toSorted()).toEqual(rows.map((row) => JSON.stringify(row)).toSorted())
  // Every way was taken: rows stored, reopened by their own team, sent, and held for want of a route.
  const { counts } = world
  const [held] = await sql<[{ n: number }]>`select count(*)::int as n from dlq.dlq_messages where held_by_route`
  const all = size.numRuns * size.turns * recordsPerTurn
  const [kept] = await sql<[{ n: number }]>`
    select (select count(*) from dlq.dlq_messages where dlq_topic is not null)::int
         + (select count(*) from dlq.dlq_messages_archive where dlq_topic is not null)::int as n`
  expect(kept.n).toBe(counts.stored)
  expect(counts.reopened).toBeGreaterThan(all / 100)
  expect(counts.published).toBeGreaterThan(all / 100)
  expect(held.n).toBeGreaterThan(all / 10)
})

/** Whether the topic is one that the name of the team's DLQ topic speaks for. */
function isOf(team: Team, topic: string): boolean {
  return topic === team || topic.startsWith(`${team}.events.v`) || topic.startsWith(`${team}-retry`)
}
