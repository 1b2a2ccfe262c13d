// Counts as the API shows them.

import { type Status, statuses } from 'dlq-core/domain/retry/message-state.ts'
import * as v from 'valibot'
import { count } from '../messages/message-json.ts'

/** Exact, or a lower bound. */
export const totalSchema = v.pipe(
  v.strictObject({ value: count, relation: v.picklist(['eq', 'gte']) }),
  v.title('Total'),
)

export const statusCountsSchema = v.pipe(
  v.strictObject(Object.fromEntries(statuses.map((status) => [status, count])) as Record<Status, typeof count>),
  v.title('StatusCounts'),
)

export const exampleStatusCounts = { PENDING: 120, RETRYING: 3, RESOLVED: 40211, DEAD: 17 }

export const noMessages = { PENDING: 0, RETRYING: 0, RESOLVED: 0, DEAD: 0 }
