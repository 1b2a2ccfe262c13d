// Error groups: what fails for the same reason, since when, how often, and what people say about it.

import { encodeCursor } from 'dlq-core/message-cursor.ts'
import { bindingOf, escapeLike } from 'dlq-core/message-filter.ts'
import { writeAudit } from 'dlq-core/queries/audit.ts'
import { hourlyByGroup } from 'dlq-core/queries/group-trend.ts'
import { changeGroup, type Group, type GroupPlace, getGroup, groupStates, listGroups } from 'dlq-core/queries/groups.ts'
import { countByValue } from 'dlq-core/queries/summary.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { textForPostgres } from 'dlq-core/text-for-postgres.ts'
import * as v from 'valibot'
import { ApiError, invalidField } from '../api-error.ts'
import { type Call, defineRoute } from '../define-route.ts'
import { requireExactCounts } from '../exact-counts.ts'
import { readCursor } from '../find-page.ts'
import { timestamp, timestampText } from '../message-json.ts'
import { idOf, instant, reason, wholeNumber } from '../request-schemas.ts'
import { exampleStatusCounts, noMessages, statusCountsSchema, totalSchema } from '../totals-json.ts'

const time = v.nullable(timestampText)
const text = v.nullable(v.string())

const groupSchema = v.pipe(
  v.strictObject({
    id: v.pipe(v.string(), v.uuid()),
    title: v.string(),
    error_class: text,
    location: text,
    message: v.string(),
    state: v.pipe(v.picklist(groupStates), v.description('A snooze that is over is open.')),
    snoozed_until: time,
    state_changed_at: time,
    regressed: v.pipe(v.boolean(), v.description('Something came in after it was set to resolved.')),
    owner: text,
    note: text,
    first_seen_at: timestampText,
    last_seen_at: timestampText,
    dlq_topics: v.pipe(v.array(v.string()), v.description('Twenty at most.')),
    counts: statusCountsSchema,
    trend: v.pipe(
      v.nullable(v.array(totalSchema)),
      v.description(
        'Messages in each of the last 24 hours, the oldest hour first, by their records’ times; null unless asked for.',
      ),
    ),
  }),
  v.title('ErrorGroup'),
)

const exampleGroup = {
  id: '1c9e5a3c-6d7e-8f00-a1b2-c3d4e5f60718',
  title: 'OutOfStockException in Billing.take',
  error_class: 'com.example.OutOfStockException',
  location: 'com.example.Billing.take',
  message: 'stock of item <int> is <int>',
  state: 'snoozed',
  snoozed_until: '2026-02-21T08:00:00.000+00:00',
  state_changed_at: '2026-02-20T18:00:00.000+00:00',
  regressed: false,
  owner: 'maria',
  note: 'OPS-4711: the supplier’s feed is late',
  first_seen_at: '2026-02-20T10:30:00.000+00:00',
  last_seen_at: '2026-02-20T17:59:00.000+00:00',
  dlq_topics: ['orders.dlq.v1'],
  counts: exampleStatusCounts,
  trend: null,
}

const stateList = v.pipe(
  v.union([v.string(), v.array(v.string())], `must be one or more of ${groupStates.join(', ')}`),
  v.metadata({ anyOf: [{ enum: groupStates }, { type: 'array', items: { enum: groupStates }, minItems: 1 }] }),
  v.transform((list) => [...new Set([list].flat().flatMap((item) => item.split(',')))].sort()),
  v.check(
    (list) => list.every((state) => (groupStates as readonly string[]).includes(state)),
    `must be one or more of ${groupStates.join(', ')}`,
  ),
  v.transform((list) => list as (typeof groupStates)[number][]),
)
const shortText = (maxChars: number) =>
  v.pipe(
    v.string('must be text'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(maxChars, `must be at most ${maxChars} characters`),
    v.check((text) => !text.includes('\0') && text.isWellFormed(), 'must be well-formed text without NUL'),
  )

const groupPath = v.object({ id: idOf('group') })
const orNull = (maxChars: number) => v.exactOptional(v.nullable(shortText(maxChars)))

export const groupRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/groups',
      summary: 'Error groups, those seen last first',
      description: 'Their messages: GET /api/v1/messages?group_id=…',
      role: 'read',
      query: v.strictObject({
        state: v.exactOptional(v.pipe(stateList, v.description('One or more states, repeated or with commas.'))),
        dlq_topic: v.exactOptional(shortText(255)),
        q: v.exactOptional(v.pipe(shortText(200), v.description('Text within the title, in any case.'))),
        trend: v.optional(
          v.pipe(
            v.picklist(['true', 'false'], 'must be true or false'),
            v.transform((text) => text === 'true'),
          ),
          'false',
        ),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 100 }), '20'),
        cursor: v.exactOptional(v.string('must be given once')),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({ groups: v.array(groupSchema), next_cursor: v.nullable(v.string()) }),
          example: { groups: [exampleGroup], next_cursor: null },
        },
      },
    },
    async ({ c, sql, log, access: { topics: scope }, query }) => {
      const { state, dlq_topic: dlqTopic, q, limit, cursor, trend } = query
      const binding = bindingOf('groups', JSON.stringify([state, dlqTopic, q]))
      const groups = await listGroups(sql, {
        ...(state && { state }),
        ...(dlqTopic !== undefined && { dlqTopic }),
        ...(q !== undefined && { likePattern: `%${escapeLike(q)}%` }),
        scope,
        after: cursor === undefined ? null : placeOf(cursor, binding),
        limit: limit + 1,
      })
      const shown = groups.slice(0, limit)
      const last = groups.length > limit ? shown.at(-1)! : null
      return c.json({
        groups: await withCounts({ sql, log }, shown, { scope, trend }),
        next_cursor: last && encodeCursor({ direction: 'forward', key: [last.place, last.id] }, binding),
      })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/groups/:id',
      summary: 'One error group, with its trend',
      role: 'read',
      params: groupPath,
      answers: { 200: { description: 'The group.', schema: groupSchema, example: exampleGroup } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, log, access: { topics: scope }, params: { id } }) => {
      const group = await getGroup(sql, { id, scope })
      if (!group) throw noGroup(id)
      const [shown] = await withCounts({ sql, log }, [group], { scope, trend: true })
      return c.json(shown)
    },
  ),

  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/groups/:id',
      summary: 'Say what is done about an error group',
      description:
        'State, owner and note are for people: retries go by policies. What the body does not name stays. A state that is set again counts from now, so setting resolved again ends regressed.',
      role: 'write',
      params: groupPath,
      body: v.strictObject({
        state: v.exactOptional(v.picklist(groupStates, `must be one of ${groupStates.join(', ')}`)),
        snoozed_until: v.exactOptional(v.pipe(instant, v.description('With the state snoozed, and only then.'))),
        owner: orNull(200),
        note: orNull(4000),
        reason,
      }),
      bodyExample: { state: 'snoozed', snoozed_until: '2026-02-21T08:00:00Z', owner: 'maria' },
      answers: { 200: { description: 'The group as it is now.', schema: groupSchema, example: exampleGroup } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, log, access: { topics: scope }, by, params: { id }, body }) => {
      const { state, snoozed_until: until, owner, note } = body
      if ((state === 'snoozed') !== (until !== undefined))
        throw invalidField('snoozed_until', 'goes with the state snoozed, and only with it')
      if (until !== undefined && until.getTime() <= Date.now())
        throw invalidField('snoozed_until', 'must be in the future')
      const clean = (text: string | null | undefined) =>
        typeof text === 'string' ? textForPostgres(text, 16_000) : text

      // Before the change: an answer of 503 means that nothing was done.
      await requireExactCounts({ sql, log })
      const after = await sql.begin(async (sql) => {
        const before = await getGroup(sql, { id, scope, hold: true })
        if (!before) throw noGroup(id)
        await changeGroup(sql, { id, state, snoozedUntil: until ?? null, owner: clean(owner), note: clean(note) })
        const after = (await getGroup(sql, { id, scope }))!
        await writeAudit(sql, {
          ...by,
          ...{ action: 'group.change', target_type: 'group', target_id: id, reason: body.reason },
          // Of several topics, one: who may see only some sees entries by it.
          dlq_topic: before.dlq_topics[0] ?? null,
          ...{ before: saidOf(before), after: saidOf(after) },
        })
        return after
      })
      const [shown] = await withCounts({ sql, log }, [after], { scope, trend: true })
      return c.json(shown)
    },
  ),
]

function saidOf({ state, snoozed_until, owner, note }: Group) {
  return { state, snoozed_until, owner, note }
}

function placeOf(cursor: string, binding: string): GroupPlace {
  const { key } = readCursor(cursor, binding)
  if (key.length !== 2) throw invalidField('cursor', 'invalid cursor')
  return [key[0]!, key[1]!]
}

function noGroup(id: string): ApiError {
  return new ApiError('SYS_DLQ_NOT_FOUND', `error group not found: ${id}`)
}

async function withCounts(
  { sql, log }: Pick<Call, 'sql' | 'log'>,
  groups: readonly Group[],
  { scope, trend }: { scope: TopicScope; trend: boolean },
) {
  const groupIds = groups.map(({ id }) => id)
  const [counts, hours] = await Promise.all([
    countByValue(sql, { column: 'group_id', values: groupIds, scope }),
    trend ? hourlyByGroup(sql, { groupIds, scope, now: new Date() }) : null,
    requireExactCounts({ sql, log }),
  ])
  return groups.map((group) => ({
    id: group.id,
    title: group.title,
    error_class: group.error_class,
    location: group.location,
    message: group.message,
    state: group.state,
    snoozed_until: group.snoozed_until && timestamp(group.snoozed_until),
    state_changed_at: group.state_changed_at && timestamp(group.state_changed_at),
    regressed: group.regressed,
    owner: group.owner,
    note: group.note,
    first_seen_at: timestamp(group.first_seen_at),
    last_seen_at: timestamp(group.last_seen_at),
    dlq_topics: group.dlq_topics,
    counts: counts.get(group.id) ?? noMessages,
    trend: hours?.get(group.id) ?? null,
  }))
}
