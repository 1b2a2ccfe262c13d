// The next messages of a run's frozen selection.

import type { MessageFilter } from 'dlq-core/domain/message/message-filter.ts'
import { eligibleStatuses, type RunSelection } from 'dlq-core/domain/message/run.ts'
import { searchIds } from 'dlq-core/queries/reading/message-search.ts'
import { resolveTopic } from 'dlq-core/queries/reading/message-topic.ts'
import { listFailedAgain } from 'dlq-core/queries/runs/run-items.ts'
import { listChanged } from 'dlq-core/queries/runs/run-undo.ts'
import type { HeldRun } from 'dlq-core/queries/runs/runs.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'

export type SelectedChunk = { ids: string[]; cursor: string | null; isExhausted: boolean }

/** A chunk examines at most this many rows for matches of its filter. */
const mostExamined = 20_000

/** Up to `limit` ids after the run's cursor, and the cursor of the next chunk. */
export async function selectChunk(
  sql: Transaction,
  run: HeldRun,
  limit: number,
  { examine = mostExamined } = {},
): Promise<SelectedChunk> {
  const selection = JSON.parse(run.selection) as RunSelection
  if ('ids' in selection) {
    const rest = selection.ids.filter((id) => run.cursor === null || id > run.cursor).toSorted()
    return chunkOf(rest.slice(0, limit), limit)
  }
  if ('failed_again_in' in selection)
    return chunkOf(await listFailedAgain(sql, { runId: selection.failed_again_in, after: run.cursor, limit }), limit)

  if ('changed_in' in selection)
    return chunkOf(await listChanged(sql, { runId: selection.changed_in, after: run.cursor, limit }), limit)
  if ('keys' in selection) throw new Error('keys are found by the run that erases')
  const statuses = eligibleStatuses(run, selection.filter)
  if (statuses.length === 0) return { ids: [], cursor: run.cursor, isExhausted: true }
  const filter: MessageFilter = { ...selection.filter, status: statuses }
  const literally = run.retry_all_topic !== null
  const { archived } = filter
  const topic = filter.topic === undefined ? null : await resolveTopic(sql, filter.topic, { literally, archived })
  const search = { filter, topic, scope: run.scope }
  const { ids, examinedTo } = await searchIds(sql, {
    ...{ search, afterId: run.cursor, untilId: run.until_id, limit, examine },
  })
  if (examinedTo !== null) return { ids, cursor: examinedTo, isExhausted: false }
  return chunkOf(ids, limit)
}

/** Whether the run selects archived messages. */
export function targetsArchive(run: Pick<HeldRun, 'selection'>): boolean {
  const selection = JSON.parse(run.selection) as RunSelection
  return 'filter' in selection && selection.filter.archived === true
}

function chunkOf(ids: string[], limit: number): SelectedChunk {
  return { ids, cursor: ids.at(-1) ?? null, isExhausted: ids.length < limit }
}
