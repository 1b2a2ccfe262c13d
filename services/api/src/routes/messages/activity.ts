// What happened lately, in stretches of time: what arrived, was sent, came back, and is DEAD.

import { checkRanges, messageFilterEntries } from 'dlq-core/domain/message/message-filter.ts'
import { beyondStorableTimes, isStorableTime } from 'dlq-core/domain/message/storable-time.ts'
import { parseDuration } from 'dlq-core/domain/retry/duration.ts'
import { type Counted, countArrived, countAttempts } from 'dlq-core/queries/history/activity-history.ts'
import * as v from 'valibot'
import { totalSchema } from '../../fleet/totals-json.ts'
import { invalidField } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { instant } from '../../request/request-schemas.ts'
import { searchOf } from './message-lists.ts'

const bys = ['total', 'topic', 'group', 'consumer_group'] as const
const maxSteps = 200
const maxSeries = 20
const dayMs = 86_400_000
const longestMs = 366 * dayMs

const { from: _from, to: _to, archived: _archived, ...filterEntries } = messageFilterEntries

const step = v.pipe(
  v.string('must be given once'),
  v.metadata({ type: 'string', pattern: '^(\\d+(ms|s|m|h|d))+$' }),
  v.transform((text) => parseDuration(text) ?? 0),
  v.minValue(1000, 'must be a duration of a second or more, such as 5m or 1h'),
  v.maxValue(longestMs, 'must be at most 366 days'),
)

const bucketSchema = v.pipe(
  v.strictObject({
    at: v.pipe(timestampText, v.description('The beginning of the stretch.')),
    arrived: v.pipe(totalSchema, v.description('By the records’ times.')),
    sent: v.pipe(totalSchema, v.description('Attempts that were published, or handled by an application.')),
    failed_again: v.pipe(totalSchema, v.description('Attempts that came back in this stretch.')),
    dead: v.pipe(totalSchema, v.description('Those that arrived and are DEAD now.')),
  }),
  v.title('ActivityBucket'),
)
const exampleTotal = { value: 12, relation: 'eq' }

export const activityRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/activity',
      summary: 'What arrived, was sent, failed again and is DEAD, in stretches of time',
      description: [
        'Stretches begin at multiples of `step`. The answer looks at a bounded number of rows of each: `gte` says that there',
        'are more. Archived messages are not counted, nor are attempts of messages that do not match the filter.',
      ].join(' '),
      role: 'read',
      masks: 'shown',
      readsReplica: true,
      query: v.pipe(
        v.strictObject({
          ...filterEntries,
          from: v.exactOptional(v.pipe(instant, v.description('Default: a day before `to`.'))),
          to: v.exactOptional(v.pipe(instant, v.description('Default: now.'))),
          step: v.exactOptional(v.pipe(step, v.description(`Such as 5m. Default 1h. At most ${maxSteps} stretches.`))),
          by: v.optional(v.picklist(bys, `must be one of ${bys.join(', ')}`), 'total'),
        }),
        checkRanges(),
      ),
      answers: {
        200: {
          description: 'One series, or one for each value that something was counted for.',
          schema: v.strictObject({
            from: timestampText,
            to: timestampText,
            step_seconds: v.number(),
            series: v.pipe(
              v.array(v.strictObject({ key: v.nullable(v.string()), buckets: v.array(bucketSchema) })),
              v.description(`Those with most messages and attempts first, ${maxSeries} at most.`),
            ),
            left_out: v.pipe(count, v.description('The series beyond these.')),
            complete: v.pipe(v.boolean(), v.description('Whether all rows of the range were looked at.')),
          }),
          example: {
            from: '2026-02-20T10:00:00.000+00:00',
            to: '2026-02-20T11:00:00.000+00:00',
            step_seconds: 3600,
            series: [
              {
                key: null,
                buckets: [
                  {
                    at: '2026-02-20T10:00:00.000+00:00',
                    ...{ arrived: exampleTotal, sent: exampleTotal, failed_again: exampleTotal, dead: exampleTotal },
                  },
                ],
              },
            ],
            left_out: 0,
            complete: true,
          },
        },
      },
    },
    async ({
      c,
      sql,
      access,
      sight,
      payloads,
      query: { from, to = new Date(), step: stepMs = 3_600_000, by, ...filter },
    }) => {
      const begin = Math.floor((from?.getTime() ?? to.getTime() - dayMs) / stepMs) * stepMs
      const steps = Math.ceil((to.getTime() - begin) / stepMs)
      if (from !== undefined && to <= from) throw invalidField('to', 'must come after from')
      if (steps > maxSteps) throw invalidField('step', `this range has ${steps} stretches; at most ${maxSteps}`)
      // Stretches begin before `from` and end after `to`, where these are no multiples of their length.
      if (![begin, begin + steps * stepMs].every((ms) => isStorableTime(new Date(ms))))
        throw invalidField('step', `the stretches of this range ${beyondStorableTimes}`)

      const search = await searchOf({ sql, payloads }, { filter, sort: 'oldest', scope: access.topics, sight })
      const asked = {
        search,
        stretches: { from: new Date(begin), stepMs, steps },
        by,
      }
      const [arrived, dead, sent, failedAgain] = await Promise.all([
        countArrived(sql, asked),
        countArrived(sql, { ...asked, dead: true }),
        countAttempts(sql, asked),
        countAttempts(sql, { ...asked, failedAgain: true }),
      ])
      const all = { arrived, sent, failed_again: failedAgain, dead }
      const keys = keysOf(by, Object.values(all))
      return c.json({
        from: timestamp(new Date(begin)),
        to: timestamp(new Date(begin + steps * stepMs)),
        step_seconds: stepMs / 1000,
        series: keys.slice(0, maxSeries).map((key) => {
          const read = Object.entries(all).map(([name, counted]) => [name, totalsOf(counted, key)] as const)
          const buckets = Array.from({ length: steps }, (_, n) => ({
            at: timestamp(new Date(begin + n * stepMs)),
            ...Object.fromEntries(read.map(([name, totalIn]) => [name, totalIn(n)])),
          }))
          return { key, buckets }
        }),
        left_out: Math.max(0, keys.length - maxSeries),
        complete: Object.values(all).every(({ incomplete }) => incomplete.size === 0),
      })
    },
  ),
]

/** Those with most counts first. */
function keysOf(by: (typeof bys)[number], counted: readonly Counted[]): (string | null)[] {
  if (by === 'total') return [null]
  const sums = new Map<string | null, number>()
  for (const { key, count } of counted.flatMap(({ counts }) => counts)) sums.set(key, (sums.get(key) ?? 0) + count)
  return [...sums].sort(([, a], [, b]) => b - a).map(([key]) => key)
}

function totalsOf({ counts, incomplete }: Counted, key: string | null) {
  const own = new Map(counts.filter((one) => one.key === key).map(({ bucket, count }) => [bucket, count]))
  return (bucket: number) => ({ value: own.get(bucket) ?? 0, relation: incomplete.has(bucket) ? 'gte' : 'eq' })
}
