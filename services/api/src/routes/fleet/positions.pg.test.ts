// The positions of the ingesters, and their reset.

import { listAudit } from 'dlq-core/queries/change/audit.ts'
import { resetPosition } from 'dlq-core/queries/ingest/positions.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf } from '../../test-app.ts'
import { useOverview } from './test-overview.ts'

const { database, service, request, limited, bodyOf } = useOverview()

describe('the positions', () => {
  const reset = (body: object, app = request) =>
    app('POST /api/v1/positions/reset', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const wanted = {
    cluster: 'c',
    topic: 'orders.dlq.v1',
    partition: 1,
    next_offset: '5',
    confirm: 'orders.dlq.v1/1',
    reason: 'deleted by mistake',
  }
  beforeEach(async () => {
    for (const topic of ['orders.dlq.v1', 'pay.dlq.v1'])
      for (const partition of [0, 1])
        await resetPosition(service.sql, { cluster: 'c', topic, partition, next_offset: 40n })
  })

  test('are listed, paged, of one topic or of all', async () => {
    const first = await bodyOf('positions?limit=3')
    expect(first.positions).toMatchObject([
      { topic: 'orders.dlq.v1', partition: 0, next_offset: '40', generation: 0 },
      { topic: 'orders.dlq.v1', partition: 1 },
      { topic: 'pay.dlq.v1', partition: 0 },
    ])
    expect(await bodyOf(`positions?limit=3&cursor=${first.next_cursor}`)).toMatchObject({
      positions: [{ topic: 'pay.dlq.v1', partition: 1 }],
      next_cursor: null,
    })
    expect((await bodyOf('positions?topic=pay.dlq.v1')).positions).toHaveLength(2)
    expect((await bodyOf('positions', limited)).positions).toHaveLength(2)
  })

  test('are reset by a request that confirms it, with an audit entry', async () => {
    expect(await answerOf(reset(wanted))).toMatchObject({ status: 200, body: { partition: 1, next_offset: '5' } })
    expect((await bodyOf('positions?topic=orders.dlq.v1')).positions).toMatchObject([
      { next_offset: '40' },
      { next_offset: '5' },
    ])
    const {
      entries: [entry],
    } = await listAudit(service.sql, { filter: {}, scope: null, beforeId: null, limit: 1 })
    expect(entry).toMatchObject({
      action: 'position.reset',
      target_id: 'c/orders.dlq.v1/1',
      reason: 'deleted by mistake',
      before: '{"next_offset":"40"}',
      after: '{"next_offset":"5"}',
    })
  })

  test.each([
    [{ confirm: 'yes' }, 400],
    [{ next_offset: 5 }, 400],
    [{ next_offset: '-1' }, 400],
    [{ cluster: 'a\0' }, 400],
    [{ cluster: 'other' }, 404],
    [{ partition: 7, confirm: 'orders.dlq.v1/7' }, 404],
  ])('are not reset with %j', async (changes, status) => {
    expect((await answerOf(reset({ ...wanted, ...changes }))).status).toBe(status)
    const rows = await database.sql`select distinct next_offset::int as next_offset from dlq.dlq_positions`
    expect(rows).toEqual([{ next_offset: 40 }])
  })

  test('are not reset by a token for some topics', async () => {
    expect((await answerOf(reset({ ...wanted, topic: 'pay.dlq.v1', confirm: 'pay.dlq.v1/1' }, limited))).status).toBe(
      403,
    )
  })
})
