// Whether a dead letter is believed, by all that may differ; claims.pg.test.ts has what becomes of it.

import type { Route } from 'dlq-core/domain/failure/topic-routes.ts'
import { readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { expect, test } from 'vitest'
import { type ClaimedMessage, type Evidence, judgeClaim, mayJoin } from './judge-claim.ts'
import { partition, recordAt } from './test-batch.ts'

const original = 'orders.events.v1'
const claim = { messageId: '019c7aa5-0000-7000-8000-000000000001', attempt: 1, attemptId: null }
const own = { dlq_cluster: partition.cluster, dlq_topic: partition.topic }
const sent: ClaimedMessage = {
  ...{ status: 'RESOLVED', retry_count: 1, original_topic: original, ...own, consumer_group: null, target_topic: null },
}
const underWay: ClaimedMessage = { ...sent, status: 'RETRYING' }
const nobody = { isOpen: () => false, redirectTopic: null, attempt: { target_topic: original } }

/** A dead letter of a record that stood in the topic, from `partition`; null: its headers do not say where. */
function letterFrom(topic: string | null, group: string | null = null) {
  const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: ['*.dlq.v1'] }
  const headers = {
    'dlq-original-topic': topic,
    ...(group !== null && { 'dlq-consumer-group': group }),
  }
  return readDeadLetter(recordAt(1, { headers }), settings, new Date(), 0).message
}

test.each<[string, string, Partial<Evidence>, ReturnType<typeof judgeClaim>]>([
  ['its own DLQ topic', original, { message: sent }, 're-failure'],
  ['a DLQ topic of that name in another cluster', original, { message: { ...sent, dlq_cluster: 'd' } }, 'stranger'],
  [
    'another cluster whose route is open, for no group',
    original,
    { message: { ...sent, dlq_cluster: 'd' }, isOpen: () => true },
    'stranger',
  ],
  // Sent to its original topic, and edited since: the next attempt goes elsewhere.
  [
    'where only its next attempt goes',
    'orders.mended',
    { message: { ...sent, target_topic: 'orders.mended' } },
    'stranger',
  ],
  [
    'where only the next attempt goes by policy',
    'orders.new',
    { message: sent, redirectTopic: 'orders.new' },
    'stranger',
  ],
  [
    'where the attempt under way goes',
    'orders.mended',
    { message: { ...underWay, target_topic: 'orders.mended' }, attempt: undefined },
    're-failure',
  ],
  [
    'its original topic, where the attempt under way goes elsewhere',
    original,
    { message: { ...underWay, target_topic: 'orders.mended' }, attempt: undefined },
    'stranger',
  ],
  [
    'its original topic, where the policy has changed since the attempt was claimed',
    original,
    { message: underWay, redirectTopic: 'orders.new', attempt: undefined },
    're-failure',
  ],
  [
    'where it goes now, with an attempt whose target is not known',
    'orders.new',
    { message: sent, redirectTopic: 'orders.new', attempt: { target_topic: null } },
    're-failure',
  ],
])('a dead letter from %s', (_, from, evidence, verdict) => {
  expect(judgeClaim(letterFrom(from), claim, { ...nobody, message: sent, ...evidence })).toBe(verdict)
})

const foreign: ClaimedMessage = { ...sent, dlq_topic: 'search.dlq.v1' }
const isOpen = () => true

test.each<[string, string | null, Partial<Evidence> & { message: ClaimedMessage }, ReturnType<typeof judgeClaim>]>([
  ['its own DLQ topic, and of another group', 'billing', { message: { ...sent, consumer_group: 'search' } }, 'sibling'],
  ['its own DLQ topic, and of its group', 'billing', { message: { ...sent, consumer_group: 'billing' } }, 're-failure'],
  ['a DLQ topic without a route', 'billing', { message: { ...foreign, consumer_group: 'billing' } }, 'stranger'],
  [
    'one with a route, of its group',
    'billing',
    { message: { ...foreign, consumer_group: 'billing' }, isOpen },
    're-failure',
  ],
  [
    'one with a route, of another group',
    'billing',
    { message: { ...foreign, consumer_group: 'search' }, isOpen },
    'sibling',
  ],
  ['one with a route, of no group', null, { message: { ...foreign, consumer_group: 'billing' }, isOpen }, 'stranger'],
  ['one with a route, of a group that is not known to be its', 'billing', { message: foreign, isOpen }, 'stranger'],
  [
    'one with a route, where the message was reported',
    null,
    { message: { ...sent, dlq_topic: null }, isOpen },
    're-failure',
  ],
])('a dead letter from %s', (_, group, evidence, verdict) => {
  expect(judgeClaim(letterFrom(original, group), claim, { ...nobody, ...evidence })).toBe(verdict)
})

test.each<[string, Partial<typeof claim> | { attemptId: string }, Partial<Evidence>, ReturnType<typeof judgeClaim>]>([
  ['that is recorded', {}, {}, 're-failure'],
  ['by its own id', { attemptId: deriveAttemptId(claim.messageId, 1) }, {}, 're-failure'],
  ['by the id of another', { attemptId: deriveAttemptId(claim.messageId, 2) }, {}, 'stranger'],
  ['that nobody has made', {}, { attempt: undefined }, 'stranger'],
  ['after the one under way', { attempt: 2 }, { message: underWay, attempt: undefined }, 'stranger'],
])('a dead letter that names an attempt %s', (_, named, evidence, verdict) => {
  expect(judgeClaim(letterFrom(original), { ...claim, ...named }, { ...nobody, message: sent, ...evidence })).toBe(
    verdict,
  )
})

test('a dead letter whose headers do not say where its record stood is believed of its own DLQ topic', () => {
  const letter = letterFrom(null)
  expect(letter.original_topic).not.toBe('orders.mended')
  const attempt = { target_topic: 'orders.mended' }
  expect(judgeClaim(letter, claim, { ...nobody, message: sent, attempt })).toBe('re-failure')
})

test('an attempt that is recorded, and under way again, may have gone where either says', () => {
  const attempt = { target_topic: 'orders.before' }
  const from = (topic: string) => judgeClaim(letterFrom(topic), claim, { ...nobody, message: underWay, attempt })
  expect(['orders.before', original, 'payments'].map(from)).toEqual(['re-failure', 're-failure', 'stranger'])
})

test('a sibling is joined from its own DLQ topic, or by an open route', () => {
  const letter = letterFrom(original)
  expect(mayJoin(letter, sent, () => false)).toBe(true)
  for (const elsewhere of [{ dlq_topic: 'search.dlq.v1' }, { dlq_cluster: 'd' }]) {
    expect(mayJoin(letter, { ...sent, ...elsewhere }, () => false)).toBe(false)
    const isOpen = (route: Route) => route.dlq_topic === partition.topic && route.original_topic === original
    expect(mayJoin(letter, { ...sent, ...elsewhere }, isOpen)).toBe(true)
  }
})
