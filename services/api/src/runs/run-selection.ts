// The selection of a run: its schema in requests, how many messages match, and the preview of a dry run.

import { meansAllTopics } from 'dlq-core/domain/message/all-topics.ts'
import { type MessageFilter, messageFilterSchema } from 'dlq-core/domain/message/message-filter.ts'
import {
  eligibleStatuses,
  heldReason,
  ineligibility,
  isSent,
  type RunMeans,
  type RunSelection,
  remedyOf,
} from 'dlq-core/domain/message/run.ts'
import { archiveKinds, archiveOnlyKinds, type RunKind } from 'dlq-core/domain/message/run-kinds.ts'
import { greatestId, isUuid } from 'dlq-core/domain/record/message-id.ts'
import { findByKeys } from 'dlq-core/queries/erase/erase-items.ts'
import { countMessages, searchIds, type Total } from 'dlq-core/queries/reading/message-search.ts'
import { resolveTopic } from 'dlq-core/queries/reading/message-topic.ts'
import { countFailedAgain, listFailedAgain } from 'dlq-core/queries/runs/run-items.ts'
import { type SurveyRow, surveyMessages } from 'dlq-core/queries/runs/run-messages.ts'
import { countChanged, listChanged } from 'dlq-core/queries/runs/run-undo.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import * as v from 'valibot'
import { invalidField } from '../http/api-error.ts'
import { base64 } from '../messages/message-content.ts'
import { type EncodingDeps, encodeKey } from '../payloads/encode-keys.ts'
import { topicName } from '../request/request-schemas.ts'
import { type BlastOf, blastOf } from '../topics/blast.ts'

const mostIds = 10_000
/** Counting ends here; a run may well be larger. */
const mostCounted = 1_000_000
/** The number of messages that a dry run examines. */
const mostSurveyed = 20_000
const sampleSize = 20

const uuid = v.pipe(v.string('must be an id'), v.check(isUuid, 'must be an id'), v.toLowerCase())

const mostKeys = 1000

/** A record key, in text, in base64, or as JSON. */
const eraseKey = v.union(
  [
    v.strictObject({ text: v.pipe(v.string('must be text'), v.minLength(1, 'must not be empty')) }),
    v.strictObject({ base64: v.pipe(base64, v.minLength(4, 'must not be empty')) }),
    v.pipe(
      v.strictObject({ json: v.unknown() }),
      v.description(
        'Encoded with each schema that keys have and that it fits, as the rule of a topic says, and as text.',
      ),
    ),
  ],
  'must be {"text": …}, {"base64": …} or {"json": …}',
)

/** Exactly one of these fields. */
export const selectionSchema = v.pipe(
  v.strictObject({
    filter: v.exactOptional(messageFilterSchema),
    ids: v.exactOptional(
      v.pipe(v.array(uuid), v.minLength(1, 'must not be empty'), v.maxLength(mostIds, `at most ${mostIds} ids`)),
    ),
    group: v.exactOptional(uuid),
    failed_again_in: v.exactOptional(
      v.pipe(uuid, v.description('The id of a run: its messages that were sent and failed again.')),
    ),
    keys: v.exactOptional(
      v.pipe(
        v.array(eraseKey),
        v.minLength(1, 'must not be empty'),
        v.maxLength(mostKeys, `at most ${mostKeys} keys`),
        v.description('For kind "erase": all messages of these record keys, live and archived, also former keys.'),
      ),
    ),
    topics: v.exactOptional(
      v.pipe(v.array(topicName), v.minLength(1, 'must not be empty'), v.description('With keys: original topics.')),
    ),
    changed_in: v.exactOptional(
      v.pipe(uuid, v.description('The id of a run of kind dead or archive: what it changed, to undo that.')),
    ),
  }),
  v.check(
    ({ topics, ...selection }) => Object.keys(selection).length === 1,
    'name exactly one of filter, ids, group, keys, failed_again_in, changed_in',
  ),
)

export type SelectionInput = v.InferOutput<typeof selectionSchema>

/** The selection with keys that are given as JSON in place of their bytes. `exactJson`: a member of `selection` as JSON text. */
export async function withEncodedKeys(
  deps: EncodingDeps,
  input: SelectionInput,
  exactJson: (...path: string[]) => string,
): Promise<SelectionInput> {
  if (!input.keys?.some((key) => 'json' in key)) return input
  const encoded = input.keys.map(async (key, at) => {
    if (!('json' in key)) return [key]
    const json = exactJson('keys', String(at), 'json')
    const topics = input.topics ?? [null]
    const ofTopics = topics.map((topic) => encodeKey(deps, json, { topic, field: `selection.keys.${at}` }))
    return (await Promise.all(ofTopics)).flat().map((bytes) => ({ base64: bytes.toString('base64') }))
  })
  return { ...input, keys: (await Promise.all(encoded)).flat() }
}

/** @throws {ApiError} 400 where it would match everything without "all", or names the wrong tables */
export function toSelection(input: SelectionInput, { kind, all }: { kind: RunKind; all: boolean }): RunSelection {
  if (input.ids) return { ids: [...new Set(input.ids)].sort() }
  if (input.topics && !input.keys) throw invalidField('selection.topics', 'go with keys')
  if (input.keys) {
    const keys = input.keys.map((key) => {
      if ('json' in key) throw invalidField('selection.keys', 'as JSON have to be encoded before')
      return 'text' in key ? Buffer.from(key.text).toString('base64') : key.base64
    })
    return { keys: [...new Set(keys)], ...(input.topics && { topics: input.topics }) }
  }
  if (input.failed_again_in) return { failed_again_in: input.failed_again_in }
  if (input.changed_in) return { changed_in: input.changed_in }
  const filter: MessageFilter = input.group ? { group_id: input.group } : input.filter!
  if (meansAllTopics(filter) && !all)
    throw invalidField('selection.filter', 'means messages of all topics: add "all": true beside "selection"')
  if (archiveOnlyKinds.includes(kind) && !filter.archived)
    throw invalidField('selection.filter.archived', `must be true: ${kind} is about the archive`)
  if (filter.archived && !archiveKinds.includes(kind))
    throw invalidField(
      'selection.filter.archived',
      `must not be true: only ${archiveKinds.join(', ')} may be about the archive`,
    )
  return { filter }
}

/** How many messages the selection has that a run of the kind could touch. `literally`: its topic is a name, not a glob. */
export async function countSelection(
  sql: Sql,
  selection: RunSelection,
  { scope, literally = false, ...run }: RunMeans & { scope: TopicScope; literally?: boolean },
): Promise<Total> {
  if ('ids' in selection) return { value: selection.ids.length, relation: 'eq' }
  if ('keys' in selection) return { value: (await idsOfKeys(sql, selection)).length, relation: 'eq' }
  if ('failed_again_in' in selection)
    return { value: await countFailedAgain(sql, selection.failed_again_in), relation: 'eq' }
  if ('changed_in' in selection) return { value: await countChanged(sql, selection.changed_in), relation: 'eq' }
  const search = await searchOf(sql, selection.filter, {
    statuses: eligibleStatuses(run, selection.filter),
    scope,
    literally,
  })
  if (search === null) return { value: 0, relation: 'eq' }
  return countMessages(sql, { search: { ...search, sort: 'oldest' }, atMost: mostCounted })
}

async function searchOf(
  sql: Sql,
  filter: MessageFilter,
  {
    statuses,
    scope,
    literally = false,
  }: { statuses: MessageFilter['status'] | null; scope: TopicScope; literally?: boolean },
) {
  if (statuses?.length === 0) return null
  const { archived } = filter
  const topic = filter.topic === undefined ? null : await resolveTopic(sql, filter.topic, { literally, archived })
  return { filter: statuses ? { ...filter, status: statuses } : filter, topic, scope }
}

/** Those of live messages; the archive has no index of keys, and the run reads it. */
function idsOfKeys(sql: Sql, { keys, topics }: { keys: readonly string[]; topics?: readonly string[] }) {
  const bytes = keys.map((key) => Buffer.from(key, 'base64'))
  return findByKeys(sql, { keys: bytes, topics: topics ?? null, until: 'infinity' })
}

async function listIds(
  sql: Sql,
  selection: RunSelection,
  scope: TopicScope,
): Promise<{ ids: readonly string[]; isAll: boolean }> {
  const limit = mostSurveyed
  if ('ids' in selection) return { ids: selection.ids, isAll: true }
  if ('keys' in selection) return { ids: await idsOfKeys(sql, selection), isAll: true }
  if ('failed_again_in' in selection) {
    const ids = await listFailedAgain(sql, { runId: selection.failed_again_in, after: null, limit })
    return { ids, isAll: ids.length < limit }
  }
  if ('changed_in' in selection) {
    const ids = await listChanged(sql, { runId: selection.changed_in, after: null, limit })
    return { ids, isAll: ids.length < limit }
  }
  const search = (await searchOf(sql, selection.filter, { statuses: null, scope }))!
  const { ids, examinedTo } = await searchIds(sql, {
    search,
    afterId: null,
    untilId: greatestId,
    limit,
    examine: limit,
  })
  return { ids, isAll: ids.length < limit && examinedTo === null }
}

/** The answer of a dry run. */
export async function surveySelection(
  sql: Sql,
  selection: RunSelection,
  {
    scope,
    blast,
    ...run
  }: RunMeans & { scope: TopicScope; blast?: Pick<BlastOf, 'targetTopic' | 'ratePerSecond' | 'policyOf' | 'sight'> },
) {
  const { ids, isAll } = await listIds(sql, selection, scope)
  const archived = archiveOnlyKinds.includes(run.kind) || ('filter' in selection && selection.filter.archived === true)
  const rows = await surveyMessages(sql, { ids, scope, archived, sampleSize })
  const ineligible: Record<string, number> = {}
  const eligible = rows.filter((row) => {
    // Archived messages are RESOLVED or DEAD; the run sends them all the same. A held one stays held.
    const reason = archived ? (isSent(run.kind) ? heldReason(row) : null) : ineligibility(run, candidateOf(row))
    if (reason !== null) ineligible[reason] = (ineligible[reason] ?? 0) + row.count
    return reason === null
  })
  const matched = await countSelection(sql, selection, { ...run, scope })
  const eligibleNow = sum(eligible)
  return {
    ...(blast !== undefined &&
      isSent(run.kind) &&
      !archived && {
        blast: await blastOf(sql, {
          ...{ ids, scope, isForced: run.is_forced, ...blast, examined: eligibleNow },
          matched: isAll ? eligibleNow : Math.max(matched.value, eligibleNow),
        }),
      }),
    /** False: only the first messages were examined. */
    complete: isAll,
    matched,
    eligible: eligibleNow,
    ineligible,
    remedies: Object.fromEntries(
      Object.entries(ineligible).map(([reason, count]) => [reason, remedyOf(run, reason, count)]),
    ),
    topics: histogram(eligible, (row) => row.original_topic),
    groups: histogram(eligible, (row) => row.group_id ?? 'none'),
    ages: histogram(eligible, ageOf),
    // Of what the run would take: what is left alone is not changed, and would only hide what is.
    sample: eligible
      .flatMap((row) => row.sample)
      .toSorted()
      .slice(0, sampleSize),
  }
}

function candidateOf({ status, is_spent, is_held, held_by_route, origin_state, is_erased }: SurveyRow) {
  const run_id = is_held ? 'another' : null
  return { status, retry_count: is_spent ? 1 : 0, max_retries: 1, run_id, held_by_route, origin_state, is_erased }
}

function ageOf({ age_days }: SurveyRow): string {
  if (age_days < 1) return 'under 1d'
  if (age_days < 7) return '1d to 7d'
  return age_days < 30 ? '7d to 30d' : 'over 30d'
}

/** The most frequent first. */
function histogram(rows: readonly SurveyRow[], keyOf: (row: SurveyRow) => string): Record<string, number> {
  const counts = [...Map.groupBy(rows, keyOf)].map(([key, of]) => [key, sum(of)] as const)
  return Object.fromEntries(counts.sort(([, a], [, b]) => b - a).slice(0, 50))
}

function sum(rows: readonly SurveyRow[]): number {
  return rows.reduce((total, { count }) => total + count, 0)
}
