// What an operator looks at first: how many messages in which state, and who works on them.

import { readStatus } from 'dlq-core/queries/status.ts'
import * as v from 'valibot'
import { defineRoute } from '../define-route.ts'
import { count, timestamp, timestampText } from '../message-json.ts'
import { exampleStatusCounts, statusCountsSchema } from '../totals-json.ts'

const time = v.nullable(timestampText)

export const statusRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/status',
      summary: 'The state of the whole',
      role: 'read',
      answers: {
        200: {
          description: 'As it is now.',
          schema: v.pipe(
            v.strictObject({
              counts: v.pipe(statusCountsSchema, v.description('Counted up to a thousand of each status.')),
              oldest_pending_at: time,
              dlq_topics: count,
              stored_at: v.pipe(time, v.description('When something was stored last.')),
              paused_groups: v.pipe(count, v.description('Error groups whose automatic retries are paused.')),
              retriers: v.array(
                v.strictObject({
                  id: v.string(),
                  publishes: v.picklist(['exactly-once', 'at-least-once', 'resolve', 'nothing']),
                  fault: v.nullable(v.string()),
                  started_at: timestampText,
                  seen_at: timestampText,
                }),
              ),
            }),
            v.title('Status'),
          ),
          example: {
            counts: exampleStatusCounts,
            oldest_pending_at: '2026-02-20T10:30:00.000+00:00',
            dlq_topics: 12,
            stored_at: '2026-02-20T10:30:01.000+00:00',
            paused_groups: 0,
            retriers: [
              {
                id: 'retrier-7f9c',
                publishes: 'exactly-once',
                fault: null,
                started_at: '2026-02-20T08:00:00.000+00:00',
                seen_at: '2026-02-20T10:30:02.000+00:00',
              },
            ],
          },
        },
      },
    },
    async ({ c, sql, access: { topics: scope } }) => {
      const { retriers, oldest_pending_at, stored_at, ...status } = await readStatus(sql, { scope })
      return c.json({
        ...status,
        oldest_pending_at: oldest_pending_at && timestamp(oldest_pending_at),
        stored_at: stored_at && timestamp(stored_at),
        retriers: retriers.map(({ started_at, seen_at, ...retrier }) => ({
          ...retrier,
          started_at: timestamp(started_at),
          seen_at: timestamp(seen_at),
        })),
      })
    },
  ),
]
