// Numbers of messages as the API shows them: exact, or "at least so many".

import { statuses } from 'dlq-core/message.ts'
import * as v from 'valibot'
import { count } from './message-json.ts'

export const totalSchema = v.pipe(
  v.strictObject({ value: count, relation: v.picklist(['eq', 'gte']) }),
  v.title('Total'),
)

const entries = Object.fromEntries(statuses.map((status) => [status, totalSchema])) as {
  [Status in (typeof statuses)[number]]: typeof totalSchema
}
export const statusCountsSchema = v.pipe(v.strictObject(entries), v.title('StatusCounts'))

export const exampleStatusCounts = {
  PENDING: { value: 12, relation: 'eq' },
  RETRYING: { value: 0, relation: 'eq' },
  RESOLVED: { value: 1000, relation: 'gte' },
  DEAD: { value: 3, relation: 'eq' },
} as const
