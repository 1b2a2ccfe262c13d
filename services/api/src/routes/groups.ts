// One error group: messages that failed for the same reason, with state, owner and note. The list: group-list.ts.

import { isUuid } from 'dlq-core/domain/record/message-id.ts'
import { beyondStorableText, isStorableText, textForPostgres } from 'dlq-core/domain/record/text-for-postgres.ts'
import { statuses } from 'dlq-core/domain/retry/message-state.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { listPausesOfGroups } from 'dlq-core/queries/groups/group-pauses.ts'
import { failureTimes } from 'dlq-core/queries/groups/group-times.ts'
import { hourlyByGroup } from 'dlq-core/queries/groups/group-trend.ts'
import {
  addGroupTopics,
  changeGroup,
  type Group,
  type GroupOpinion,
  getGroup,
  groupStates,
  listOpinions,
} from 'dlq-core/queries/groups/groups.ts'
import { countByValue } from 'dlq-core/queries/reading/summary.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import * as v from 'valibot'
import { requireTag, tagOf } from '../answers/entity-tag.ts'
import { mapInSteps } from '../answers/next-step.ts'
import { requireExactCounts } from '../fleet/exact-counts.ts'
import { exampleStatusCounts, noMessages, statusCountsSchema, totalSchema } from '../fleet/totals-json.ts'
import { ApiError, invalidField } from '../http/api-error.ts'
import { type Call, defineRoute } from '../http/define-route.ts'
import { hiddenEntries, hiddenOf, type Shown, shown } from '../masks/shown.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'
import { exampleGroupPause, groupPauseJson, groupPauseSchema } from '../pauses/group-pause-json.ts'
import { idOf, ifMatchHeader, instant, reason } from '../request/request-schemas.ts'

const time = v.nullable(timestampText)
const text = v.nullable(v.string())

/** Topics of a group that are shown, one by one. */
const maxTopics = 20

const opinionEntries = {
  state: v.pipe(v.picklist(groupStates), v.description('A group whose snooze has ended is open.')),
  snoozed_until: time,
  state_changed_at: time,
  regressed: v.pipe(v.boolean(), v.description('A message arrived after the group was set to resolved.')),
  owner: text,
  note: text,
}

export const groupSchema = v.pipe(
  v.strictObject({
    id: v.pipe(v.string(), v.uuid()),
    ...hiddenEntries,
    title: v.string(),
    error_class: text,
    location: text,
    message: v.pipe(
      v.string(),
      v.description(
        'Of the first message. Empty where it may be that of a topic which the token may not see: the group is told by its location, and other topics have it, too.',
      ),
    ),
    ...opinionEntries,
    topics: v.pipe(
      v.nullable(
        v.array(v.pipe(v.strictObject({ dlq_topic: v.string(), ...opinionEntries }), v.title('ErrorGroupTopic'))),
      ),
      v.description(
        `What is said for each DLQ topic, ${maxTopics} at most; null in lists. The group itself has the state that needs most attention, and the first owner and note, of the topics that the token may see.`,
      ),
    ),
    first_seen_at: v.pipe(timestampText, v.description('When the first of its records was written.')),
    last_seen_at: v.pipe(
      timestampText,
      v.description(
        'When the last of its records was written. Lists in this order go by when it was stored, so that a late one comes first.',
      ),
    ),
    dlq_topics: v.pipe(v.array(v.string()), v.description('Twenty at most.')),
    counts: statusCountsSchema,
    pauses: v.pipe(
      v.array(groupPauseSchema),
      v.description('The original topics for which its automatic retries are paused.'),
    ),
    trend: v.pipe(
      v.nullable(v.array(totalSchema)),
      v.description(
        'Messages in each of the last 24 hours, the oldest hour first, by their records’ times; null unless asked for.',
      ),
    ),
  }),
  v.title('ErrorGroup'),
)

const exampleOpinion = {
  state: 'snoozed',
  snoozed_until: '2026-02-21T08:00:00.000+00:00',
  state_changed_at: '2026-02-20T18:00:00.000+00:00',
  regressed: false,
  owner: 'maria',
  note: 'OPS-4711: the supplier’s feed is late',
}

export const exampleGroup = {
  id: '1c9e5a3c-6d7e-8f00-a1b2-c3d4e5f60718',
  title: 'OutOfStockException in Billing.take',
  error_class: 'com.example.OutOfStockException',
  location: 'com.example.Billing.take',
  message: 'stock of item <int> is <int>',
  ...exampleOpinion,
  topics: [{ dlq_topic: 'orders.dlq.v1', ...exampleOpinion }],
  first_seen_at: '2026-02-20T10:30:00.000+00:00',
  last_seen_at: '2026-02-20T17:59:00.000+00:00',
  dlq_topics: ['orders.dlq.v1'],
  counts: exampleStatusCounts,
  pauses: [exampleGroupPause],
  trend: null,
}

export const groupText = (maxChars: number) =>
  v.pipe(
    v.string('must be text'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(maxChars, `must be at most ${maxChars} characters`),
    v.check(isStorableText, beyondStorableText),
  )

const groupPath = v.object({ id: idOf('group') })
const orNull = (maxChars: number) => v.exactOptional(v.nullable(groupText(maxChars)))

/** The groups that one request may change. */
const maxIds = 100

const changeEntries = {
  state: v.exactOptional(v.picklist(groupStates, `must be one of ${groupStates.join(', ')}`)),
  snoozed_until: v.exactOptional(v.pipe(instant, v.description('With the state snoozed, and only then.'))),
  dlq_topic: v.exactOptional(groupText(255)),
  owner: orNull(200),
  note: orNull(4000),
  reason,
}
const changeObject = v.strictObject(changeEntries)
type Change = v.InferOutput<typeof changeObject>

export const groupRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/groups/:id',
      summary: 'One error group, with its trend',
      role: 'read',
      masks: 'shown',
      params: groupPath,
      answers: {
        200: {
          description: 'The group.',
          headers: { ETag: 'Of what people say about the group, for If-Match of PATCH. Its counts do not change it.' },
          schema: groupSchema,
          example: exampleGroup,
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, log, access: { topics: scope }, sight, params: { id } }) => {
      const group = await getGroup(sql, { id, scope })
      if (!group) throw noGroup(id)
      c.header('ETag', await tagOfGroup(sql, { id, scope }))
      return c.json(await withTopics({ sql, log, sight }, group, scope))
    },
  ),

  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/groups/:id',
      summary: 'Set state, owner and note of an error group',
      description: [
        'State, owner and note are for people; they change no retry. They belong to the group’s DLQ topics: `dlq_topic` names',
        'one, else all that the token covers are changed. Fields that the body leaves out stay. A state that is set again',
        'counts from now, so setting resolved again clears regressed.',
      ].join(' '),
      role: 'write',
      masks: 'shown',
      params: groupPath,
      headers: v.object(ifMatchHeader),
      body: changeObject,
      bodyExample: { state: 'snoozed', snoozed_until: '2026-02-21T08:00:00Z', owner: 'maria' },
      answers: {
        200: {
          description: 'The group as it is now.',
          headers: { ETag: 'As it is now.' },
          schema: groupSchema,
          example: exampleGroup,
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_PRECONDITION_FAILED'],
    },
    async ({ c, sql, log, access: { topics: scope }, sight, by, params: { id }, headers, body }) => {
      checkSnooze(body)
      // Checked before the change, so that an answer of 503 means that nothing was changed.
      await requireExactCounts({ sql, log })
      const { group, tag } = await sql.begin(async (sql) => {
        const group = await changeOne(sql, { id, scope, by, body, ifMatch: headers['if-match'] })
        return { group, tag: await tagOfGroup(sql, { id, scope }) }
      })
      c.header('ETag', tag)
      return c.json(await withTopics({ sql, log, sight }, group, scope))
    },
  ),

  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/groups',
      summary: 'Set state, owner and note of several error groups',
      description: `The same change for each group, as PATCH /api/v1/groups/{id} makes it: for all of the ids, ${maxIds} at most, or for none.`,
      role: 'write',
      masks: 'shown',
      body: v.strictObject({
        ids: v.pipe(
          v.array(v.pipe(v.string('must be an id'), v.check(isUuid, 'must be an id'), v.toLowerCase())),
          v.minLength(1, 'must not be empty'),
          v.maxLength(maxIds, `must be at most ${maxIds} ids`),
        ),
        ...changeEntries,
      }),
      bodyExample: { ids: [exampleGroup.id], state: 'ignored', reason: 'known, harmless' },
      answers: {
        200: {
          description: 'The groups as they are now, in the order of their ids.',
          schema: v.strictObject({ groups: v.array(groupSchema) }),
          example: { groups: [{ ...exampleGroup, topics: null }] },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, log, access: { topics: scope }, sight, by, body: { ids, ...body } }) => {
      checkSnooze(body)
      await requireExactCounts({ sql, log })
      // In one order, so that two requests do not wait for each other.
      const sorted = [...new Set(ids)].sort()
      const groups = await sql.begin(async (sql) => {
        const changed: Group[] = []
        for (const id of sorted) changed.push(await changeOne(sql, { id, scope, by, body }))
        return changed
      })
      return c.json({ groups: await withCounts({ sql, log, sight }, groups, { scope, trend: false }) })
    },
  ),
]

/** Of how many topics one request may change what is said. */
const maxChanged = 1000

function checkSnooze({ state, snoozed_until: until }: Change): void {
  if ((state === 'snoozed') !== (until !== undefined))
    throw invalidField('snoozed_until', 'goes with the state snoozed, and only with it')
  if (until !== undefined && until.getTime() <= Date.now()) throw invalidField('snoozed_until', 'must be in the future')
}

/** Changes what is said about a group, with its audit. @throws {ApiError} 403, 404 or 412, and then nothing is changed */
async function changeOne(
  sql: Sql,
  {
    id,
    scope,
    by,
    body,
    ifMatch,
  }: { id: string; scope: TopicScope; by: Call['by']; body: Change; ifMatch?: string | undefined },
): Promise<Group> {
  const clean = (text: string | null | undefined) => (typeof text === 'string' ? textForPostgres(text, 16_000) : text)
  if (!(await getGroup(sql, { id, scope, hold: true }))) throw noGroup(id)
  if (ifMatch !== undefined) requireTag(ifMatch, await tagOfGroup(sql, { id, scope }), `error group ${id}`)
  await addGroupTopics(sql, { id, scope })
  const topics = { id, scope, dlqTopic: body.dlq_topic, limit: maxChanged }
  const before = await listOpinions(sql, topics)
  if (before.length === 0) throw noTopic(id, body.dlq_topic)
  const dlqTopics = before.map(({ dlq_topic }) => dlq_topic)
  await changeGroup(sql, {
    ...{ id, dlqTopics, state: body.state, snoozedUntil: body.snoozed_until ?? null },
    ...{ owner: clean(body.owner), note: clean(body.note) },
  })
  for (const [at, after] of (await listOpinions(sql, topics)).entries()) {
    if (tagOfOpinions([before[at]!]) === tagOfOpinions([after])) continue
    await writeAudit(sql, {
      ...by,
      ...{ action: 'group.change', target_type: 'group', target_id: id, reason: body.reason },
      ...{ dlq_topic: after.dlq_topic, before: saidOf(before[at]!), after: saidOf(after) },
    })
  }
  return (await getGroup(sql, { id, scope }))!
}

/** Of what is said for the topics in the scope. */
async function tagOfGroup(sql: Sql, { id, scope }: { id: string; scope: TopicScope }): Promise<string> {
  return tagOfOpinions(await listOpinions(sql, { id, scope, limit: maxChanged }))
}

function tagOfOpinions(opinions: readonly GroupOpinion[]): string {
  return tagOf(opinions.map((one) => [one.dlq_topic, saidOf(one), one.state_changed_at]))
}

function noTopic(id: string, dlqTopic: string | undefined): ApiError {
  return new ApiError(
    'SYS_DLQ_FORBIDDEN',
    dlqTopic === undefined
      ? `what is said about error group ${id} belongs to its DLQ topics; this token covers none of them`
      : `error group ${id} has no DLQ topic ${dlqTopic} that this token covers`,
  )
}

function saidOf({ state, snoozed_until, owner, note }: GroupOpinion) {
  return { state, snoozed_until, owner, note }
}

function noGroup(id: string): ApiError {
  return new ApiError('SYS_DLQ_NOT_FOUND', `error group not found: ${id}`)
}

async function withTopics({ sql, log, sight }: Pick<Call, 'sql' | 'log' | 'sight'>, group: Group, scope: TopicScope) {
  const [[counted], opinions] = await Promise.all([
    withCounts({ sql, log, sight }, [group], { scope, trend: true }),
    listOpinions(sql, { id: group.id, scope, limit: maxTopics }),
  ])
  return {
    ...counted,
    topics: await mapInSteps(opinions, (one) => ({
      dlq_topic: one.dlq_topic,
      ...opinionJson(shown(one, sight, 'anywhere')),
    })),
  }
}

function opinionJson({
  state,
  snoozed_until,
  state_changed_at,
  regressed,
  owner,
  note,
}: Shown<Omit<GroupOpinion, 'dlq_topic'>>) {
  return {
    state,
    snoozed_until: snoozed_until && timestamp(snoozed_until),
    state_changed_at: state_changed_at && timestamp(state_changed_at),
    ...{ regressed, owner, note },
  }
}

export async function withCounts(
  { sql, log, sight }: Pick<Call, 'sql' | 'log' | 'sight'>,
  groups: readonly Group[],
  { scope, trend }: { scope: TopicScope; trend: boolean },
) {
  const groupIds = groups.map(({ id }) => id)
  const counted = async () => {
    const counts = await countByValue(sql, { column: 'group_id', values: groupIds, scope })
    const statusesOf = (id: string) => statuses.filter((status) => (counts.get(id)?.[status] ?? 0) > 0)
    const seen = groups.map((group) => ({ ...group, statuses: statusesOf(group.id) }))
    return { counts, times: await failureTimes(sql, { groups: seen, scope }) }
  }
  const [{ counts, times }, hours, pauses] = await Promise.all([
    counted(),
    trend ? hourlyByGroup(sql, { groupIds, scope, now: new Date() }) : null,
    listPausesOfGroups(sql, { groupIds, scope }),
    requireExactCounts({ sql, log }),
  ])
  // A group may have messages of any topic.
  const asShown = await mapInSteps(groups, (group) => shown(group, sight, 'anywhere'))
  return asShown.map((group) => ({
    id: group.id,
    title: group.title,
    error_class: group.error_class,
    location: group.location,
    message: group.message,
    ...opinionJson(group),
    topics: null as object[] | null,
    first_seen_at: timestamp(earlier(group.first_seen_at, times.get(group.id)?.first)),
    last_seen_at: timestamp(later(group.last_seen_at, times.get(group.id)?.last)),
    dlq_topics: group.dlq_topics,
    counts: counts.get(group.id) ?? noMessages,
    pauses: pauses
      .filter(({ group_id }) => group_id === group.id)
      .map((pause) => groupPauseJson(shown(pause, sight, 'anywhere'))),
    trend: hours?.get(group.id) ?? null,
    ...hiddenOf(group),
  }))
}

function earlier(a: Date, b: Date | null | undefined): Date {
  return b && b < a ? b : a
}

function later(a: Date, b: Date | null | undefined): Date {
  return b && b > a ? b : a
}
