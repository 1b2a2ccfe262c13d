// Consumers that say that the work of a retry is done.

import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { settleAttempts } from 'dlq-core/queries/retry/attempts.ts'
import { expect, test } from 'vitest'
import { answerOf } from '../../test-app.ts'
import { errorWith, path, record, useChanges } from './test-changes.ts'

const { service, insert, send, request, auditOf } = useChanges()

const confirm = (id: string, attempt = 1, attemptId = deriveAttemptId(id, attempt)) =>
  answerOf(send(`POST /api/v1/attempts/${attemptId}/confirm`, { message_id: id, attempt }))

const settle = (id: string, number = 1) =>
  settleAttempts(service.sql, {
    attempts: [
      {
        ...{ message_id: id, number, attempt_id: deriveAttemptId(id, number), outcome: 'published' },
        ...{ target_topic: 'orders', target_partition: 0, target_offset: 7n, error: null },
      },
    ],
  })

async function attemptsOf(id: string) {
  const { body } = await answerOf(request(`GET ${path(id, '/attempts')}`))
  return (body as { attempts: object[] }).attempts
}

test('a confirmed attempt is done, says who said so, and stays as it was confirmed first', async () => {
  const id = await insert({ ...record, status: 'RESOLVED', retry_count: 1 })
  await settle(id)
  const first = await confirm(id)
  expect(first).toMatchObject({ status: 200, body: { attempt_id: deriveAttemptId(id, 1), confirmed_by: 'anonymous' } })
  expect(await confirm(id)).toEqual(first)
  expect(await attemptsOf(id)).toMatchObject([
    { outcome: 'published', verdict: 'confirmed', verdict_reason: null, confirmed: { by: 'anonymous' } },
  ])
  expect(await auditOf(id)).toMatchObject([{ action: 'attempt.confirm' }])
})

test('a consumer may be done before the retrier has stored where the record went', async () => {
  const id = await insert({ ...record, status: 'RETRYING', retry_count: 1 })
  expect(await confirm(id)).toMatchObject({ status: 200 })
  await settle(id)
  expect(await attemptsOf(id)).toMatchObject([
    { outcome: 'published', target: { topic: 'orders', offset: '7' }, verdict: 'confirmed' },
  ])
})

test('an attempt that was never made, a deleted message, and ids of different records are refused', async () => {
  const id = await insert({ ...record, status: 'PENDING', retry_count: 1 })
  expect(await confirm(id, 2)).toMatchObject({ status: 404, body: errorWith('SYS_DLQ_NOT_FOUND') })
  expect(await confirm('01900000-0000-7000-8000-00000000beef')).toMatchObject({ status: 404 })
  expect(await confirm(id, 1, deriveAttemptId(id, 2))).toMatchObject({
    status: 400,
    body: { error: { details: [{ field: 'message_id' }] } },
  })
  expect(await attemptsOf(id)).toEqual([])
})
