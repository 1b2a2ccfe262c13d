// The plans by which PostgreSQL ran the frequent queries: none reads a whole partition with rows, so none gets slower
// with the backlog. retry-plans.pg.test.ts has those of the retrier, with the blocks that they read.
import { randomUUID } from 'node:crypto'
import { nodesOf, partitionsWithRows, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { deleteMessages } from '../change/delete-messages.ts'
import { editMessage, holdMessage } from '../change/message-change.ts'
import { deleteSpent, purgeSpent } from '../change/message-purge.ts'
import { lockUngrouped } from '../groups/ungrouped.ts'
import { lockMessages, type ReopenedMessage, reopenMessages } from '../ingest/message-reopen.ts'
import { pingMessages } from '../ping.ts'
import { oldestWaiting } from '../reading/activity.ts'
import { oldestOfFleet } from '../reading/fleet-ages.ts'
import { getMessage } from '../reading/message-view.ts'
import { holdMessages, letMessagesGo } from '../routes/routes.ts'
import { greatestMessageId } from '../runs/greatest-message-id.ts'
import { giveBack, handOverPulled, holdsMessages, listRunTopics, markDead, takeIntoRun } from '../runs/run-messages.ts'
import { lockWaitingMessages } from '../schemas/waiting-messages.ts'
import type { Sql } from '../sql.ts'
import { enterOpen } from '../staleness/answers.ts'
import { holdStale } from '../staleness/hold-stale.ts'
import { archiveMessages, listSettled, listSettledTopics } from '../upkeep/archive.ts'
import { claimBatch, leaseParts, listOutstanding, releaseBatch, settleMessages, type TopicShare } from './batches.ts'
import { countDue, listDueTopics } from './due-topics.ts'
import { releaseExpiredLeases, releaseUnheld } from './expired-leases.ts'
import { renewSlot, takeAbandonedSlot } from './slots.ts'

const database = useDatabase()
const rowCount = 20_000

beforeAll(async () => {
  // Rows in every partition and 50 topics; a tenth waits, a hundredth is due, a thousandth is being retried.
  await database.sql`
    insert into dlq.dlq_messages (
      id, original_topic, error_message, dlq_topic, record_value, status, next_retry_at, lease_token, lease_until,
      lease_slot, lease_batch, order_key, group_id)
    select
      (case place when 0 then '00000000-0000' when 1 then 'ffffffff-ffff'
                  else left(dlq.uuid_floor(now() + (place - 2) * interval '1 month')::text, 13) end
       || '-7' || right(gen_random_uuid()::text, 21))::uuid,
      'topic-' || topic, 'processing failed', 'topic-' || topic || '.dlq.v1', convert_to(repeat('x', 200), 'UTF8'),
      case when n % 1000 = 0 then 'RETRYING' when n % 10 = 0 then 'PENDING' when n % 2 = 0 then 'DEAD' else 'RESOLVED' end,
      case when n % 10 = 0 then now() + (case when n % 100 = 0 then -n else n end) * interval '1 s' end,
      case when n % 1000 = 0 then gen_random_uuid() end,
      case when n % 1000 = 0 then now() + (n - 15000) * interval '1 s' end,
      case when n % 1000 = 0 then 1 end, case when n % 1000 = 0 then 1 end,
      case when topic = 7 then n % 10 end, case when n % 1000 <> 0 then gen_random_uuid() end
    from (
      select n, abs(hashint4(n)) % 50 as topic, abs(hashint4(n)) / 50 % 6 as place from generate_series(1, ${rowCount}) n
    ) spread`
  await database.sql`insert into dlq.dlq_slots (slot, epoch) values (1, 1), (2, 1)`
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('topic-8', 'pull')`
  await database.sql`
    insert into dlq.dlq_runs (id, kind, status, actor, selection, until_id, matched, matched_relation)
    values (${run}, 'retry', 'running', 'plans', '{}', ${greatest}, 1, 'eq')`
  await database.sql`update dlq.dlq_messages set run_id = ${run} where status = 'PENDING' and next_retry_at > now() + interval '4 hours'`
  await database.sql`vacuum analyze dlq.dlq_messages`
})

const ids = Array.from({ length: 100 }, (_, n) => `${randomUUID().slice(0, 34)}${String(n % 100).padStart(2, '0')}`)
/** As many as a chunk of a run may have: enough for a planner who knows it to read whole partitions. */
const manyIds = Array.from({ length: 5000 }, () => randomUUID())
const token = randomUUID()
const reopened = ids.map(
  (id): ReopenedMessage => ({
    id,
    status: 'PENDING',
    retry_count: 1,
    next_retry_at: null,
    error_class: null,
    error_message: 'again',
    error_stacktrace: null,
    group_id: null,
    consumer_group: null,
    held_by_route: false,
    is_scrubbed: null,
  }),
)
const slot = { slot: 1, epoch: 1n }
const edit = {
  ...{ id: ids[0]!, actor: 'plans', reason: null, request_id: 'plans', fields: ['key'] },
  after: {
    record_key: null,
    record_value: null,
    record_headers: '[]',
    payload: null,
    target_topic: null,
    order_key: null,
    value_schema: null,
    decode_state: null,
  },
}
const settled = ids.map((id) => ({ id, status: 'RESOLVED' as const, next_retry_at: null, run_id: null }))
const shares = (rest: Partial<TopicShare>): TopicShare[] =>
  Array.from({ length: 50 }, (_, n) => ({
    ...{ topic: `topic-${n}`, quota: 10, maxInFlight: null, ordered: false, pausedGroups: [] },
    ...rest,
  }))
const smallest = '00000000-0000-0000-0000-000000000000'
const greatest = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const run = '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11'
const routeChunk = {
  ...{
    route: { original_topic: 'topic-7', dlq_topic: 'topic-7.dlq.v1', state: 'approved' as const },
    status: 'PENDING' as const,
  },
  ...{ afterId: smallest, limit: 100 },
}
const byTopic = /_original_topic_status_id_idx$/
const byRun = /_run_id_original_topic_id_idx$/

// (status, id) serves as well as the primary key where the status is known.
const byId = /(_pkey|_status_id_idx)$/
const byLease = /_lease_slot_lease_batch_idx$/
const bySettled = /_original_topic_updated_at_id_idx$/
const byIdOrLease = /(_pkey|_status_id_idx|_lease_slot_lease_batch_idx)$/

const queries: [title: string, index: RegExp, query: (sql: Sql) => Promise<unknown>][] = [
  [
    'the claim',
    /_original_topic_next_retry_at_id_idx$/,
    (sql) => claimBatch(sql, { ...slot, token, shares: shares({ ordered: false }), maxBytes: 1e9 }),
  ],
  [
    'the claim in the order of keys',
    /_original_topic_order_key_.*_idx$/,
    (sql) => claimBatch(sql, { ...slot, token, shares: shares({ ordered: true }), maxBytes: 1e9 }),
  ],
  [
    'the claim with a bound on what is in flight',
    /_lease_slot_lease_batch_idx$/,
    (sql) => claimBatch(sql, { ...slot, token, shares: shares({ maxInFlight: 9 }), maxBytes: 1e9 }),
  ],
  [
    'the claim of what a run holds',
    byRun,
    (sql) => claimBatch(sql, { ...slot, token, shares: shares({ run }), maxBytes: 1e9 }),
  ],
  ['the look for what runs have to send', byRun, (sql) => listRunTopics(sql)],
  ['the question whether a run holds anything', byRun, (sql) => holdsMessages(sql, run)],
  ['the giving back of what a run has not sent', byRun, (sql) => giveBack(sql, { runId: run, limit: 1000 })],
  [
    'the taking of messages into a run',
    byId,
    (sql) =>
      takeIntoRun(sql, {
        runId: run,
        ids: manyIds,
        cutoff: 'infinity',
        scope: null,
        redirects: false,
        isForced: false,
      }),
  ],
  ['the marking dead of what a run means', byId, (sql) => markDead(sql, manyIds)],
  ['the handing over of what programs pull', byRun, (sql) => handOverPulled(sql, { runId: run, limit: 1000 })],
  [
    'the walk over open messages of a topic, for newer records',
    byTopic,
    (sql) => enterOpen(sql, { original_topic: 'topic-7', dlq_topic: 'topic-7.dlq.v1', after: smallest, limit: 100 }),
  ],
  ['the look for due topics', /_original_topic_next_retry_at_id_idx$/, (sql) => listDueTopics(sql)],
  [
    'the look for due topics beside known ones',
    /_original_topic_next_retry_at_id_idx$/,
    (sql) => listDueTopics(sql, ['topic-7', 'topic-8']),
  ],
  [
    'the count of what is due',
    /_original_topic_next_retry_at_id_idx$/,
    (sql) => countDue(sql, { topics: ['topic-7', 'topic-8'], limit: 1000 }),
  ],
  ['one message', byId, (sql) => getMessage(sql, { id: ids[0]!, scope: null })],
  ['the deletion of one message', byId, (sql) => deleteMessages(sql, { ids: ids.slice(0, 1), archived: false })],
  ['the hold on a message that somebody changes', byId, (sql) => holdMessage(sql, { id: ids[0]!, scope: ['topic-*'] })],
  ['an edit', byId, (sql) => editMessage(sql, edit)],
  [
    'the claim of a program',
    /_original_topic_next_retry_at_id_idx$/,
    (sql) => sql`select from dlq.claim_messages('topic-8', 100)`,
  ],
  ['the settling of a program', byId, (sql) => sql`select dlq.resolve_messages(${sql.array(ids)}::uuid[], ${token})`],
  ['the failure that a program reports', byId, (sql) => sql`select dlq.fail_message(${ids[0]!}, ${token}, 'again')`],
  ['the messages that have no group yet', /_(first|last|\d\d)_id_idx$/, (sql) => lockUngrouped(sql, { limit: 500 })],
  [
    'the messages that wait for a schema',
    /_value_schema_id_idx$/,
    (sql) => lockWaitingMessages(sql, { schema: 1, limit: 50, maxBytes: 1000 }),
  ],
  ['the release of messages that nobody holds', byTopic, (sql) => releaseUnheld(sql, { afterMs: 0, limit: 100 })],
  ['the holding of the messages of a route', byTopic, (sql) => holdMessages(sql, routeChunk)],
  [
    'the letting go of the messages of a route',
    byTopic,
    (sql) => letMessagesGo(sql, { ...routeChunk, status: 'DEAD', nextRetryAt: null }),
  ],
  ['the question whether lists can be answered', /_\d\d_status_id_idx$/, (sql) => pingMessages(sql)],
  ['the sweep of expired leases', /_lease_until_idx$/, (sql) => releaseExpiredLeases(sql, { limit: 1000 })],
  ['the settling of a batch', byId, (sql) => settleMessages(sql, { ...slot, batch: 1n, messages: settled })],
  ['the release of a part of a batch', byIdOrLease, (sql) => releaseBatch(sql, { ...slot, batch: 1n, ids })],
  [
    'the holding of stale messages',
    byIdOrLease,
    (sql) => {
      const held = ids.map(
        (id) => ({ id, answer: 'superseded', reason: null, newer_offset: 1n, newer_at: null }) as const,
      )
      return holdStale(sql, { ...slot, batch: 1n, held })
    },
  ],
  ['the release of a batch', byLease, (sql) => releaseBatch(sql, { ...slot, batch: 1n })],
  ['the leasing of parts', byId, (sql) => leaseParts(sql, { ...slot, parts: [{ batch: 2n, token, ids }] })],
  ['the look for what a slot holds', byLease, (sql) => listOutstanding(sql, slot)],
  ['the renewal of a slot', byLease, (sql) => renewSlot(sql, { ...slot, settled: 1n, leaseMs: 1000 })],
  ['the look for an abandoned slot', byLease, (sql) => takeAbandonedSlot(sql, { owner: 'plans', leaseMs: 1000 })],
  ['the lock on messages that failed again', byId, (sql) => lockMessages(sql, ids)],
  ['the reopening of messages that failed again', byId, (sql) => reopenMessages(sql, reopened)],
  [
    'a chunk of the purge of a consumer',
    byTopic,
    (sql) =>
      purgeSpent(sql, {
        ...{ originalTopic: 'topic-7', consumerGroup: null, scope: null },
        ...{ afterId: smallest, limit: 100 },
      }),
  ],
  [
    'the deletion of one message of a consumer',
    byId,
    (sql) => deleteSpent(sql, { id: ids[0]!, originalTopic: 'topic-7', consumerGroup: null, scope: null }),
  ],
  [
    'the look for the oldest messages that wait',
    byTopic,
    (sql) => oldestWaiting(sql, { status: 'PENDING', topics: ['topic-7', 'topic-8'], scope: null }),
  ],
  [
    'the look for the topics that wait longest',
    byTopic,
    (sql) => oldestOfFleet(sql, { status: 'PENDING', limit: 500 }),
  ],
  ['the topics with something to archive', bySettled, (sql) => listSettledTopics(sql)],
  [
    'a batch of what may be archived',
    bySettled,
    (sql) =>
      listSettled(sql, { topic: 'topic-7', before: new Date(), after: { at: '2020-01-01', id: smallest }, limit: 500 }),
  ],
  ['the archiving of a batch', byId, (sql) => archiveMessages(sql, { ids, before: new Date(), now: new Date() })],
  ['the greatest id', byId, (sql) => greatestMessageId(sql)],
]

describe.each(planCacheModes)('with %s', (planCacheMode) => {
  test.each(queries)(
    '%s reads partitions along an index that ends in %s, and no partition as a whole',
    async (_, index, query) => {
      const filled = await partitionsWithRows(database.sql)
      const plans = await plansOf(database.url, planCacheMode, query)
      const nodes = plans.flatMap(nodesOf)

      expect(filled.length).toBeGreaterThanOrEqual(4)
      const whole = nodes.filter(
        (node) => node['Node Type'].endsWith('Seq Scan') && filled.includes(node['Relation Name'] ?? ''),
      )
      expect(whole.map((node) => node['Relation Name'])).toEqual([])
      expect(
        nodes.some((node) => index.test(node['Index Name'] ?? '')),
        nodes.map((node) => node['Index Name']).join(),
      ).toBe(true)
    },
  )
})
