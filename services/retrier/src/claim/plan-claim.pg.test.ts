// The messages that a slot may claim, by due rows and policies.
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { createCooldown } from '../slot/cooldown.ts'
import { createTopicHolds } from '../targets/topic-holds.ts'
import { createDueTopics } from './due-topics.ts'
import { planClaim } from './plan-claim.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

test('a topic whose application pulls its dead letters is left alone', async () => {
  for (const original_topic of ['pulled', 'published'])
    await insertMessageRow(database.sql, { original_topic, next_retry_at: new Date(0) })
  const { shares } = await planClaim(
    {
      sql: service.sql,
      dueTopics: createDueTopics(service.sql),
      cooldown: createCooldown({ now: Date.now }),
      holds: createTopicHolds({ now: Date.now }),
      pauses: { ofTopic: () => [] },
      topicOrder: { isReady: () => true, forget: () => {} },
      policyOf: ({ original_topic }) =>
        original_topic === 'pulled' ? { ...defaultRetryPolicy, delivery: 'pull' } : defaultRetryPolicy,
    },
    { turn: 0, batchSize: 10, appetite: new Map() },
  )
  expect(shares.map(({ topic }) => topic)).toEqual(['published'])
})
