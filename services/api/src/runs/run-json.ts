// A run as the API shows it.

import { messageFilterSchema } from 'dlq-core/domain/message/message-filter.ts'
import {
  type Canary,
  canaryOf,
  progressOf,
  runStatuses,
  stepSize,
  type TakeStep,
  waitingOf,
} from 'dlq-core/domain/message/run.ts'
import { runKinds } from 'dlq-core/domain/message/run-kinds.ts'
import { originStates } from 'dlq-core/domain/origin/origin-state.ts'
import { parseExact } from 'dlq-core/domain/record/exact-json.ts'
import { jsonPatchSchema } from 'dlq-core/domain/record/json-patch.ts'
import { formatDuration } from 'dlq-core/domain/retry/duration.ts'
import { verdicts } from 'dlq-core/queries/readers/verdicts.ts'
import type { Total } from 'dlq-core/queries/reading/message-search.ts'
import type { RunView } from 'dlq-core/queries/runs/runs.ts'
import * as v from 'valibot'
import { totalSchema } from '../fleet/totals-json.ts'
import { hiddenEntries, hiddenOf, type Shown } from '../masks/shown.ts'

const count = v.pipe(v.number(), v.integer())
const instantText = v.pipe(v.string(), v.metadata({ format: 'date-time' }))

const runVerdictsSchema = v.pipe(
  v.strictObject({ ...v.entriesFromList(verdicts, count), counted_at: instantText }),
  v.title('RunVerdicts'),
)

type RunVerdicts = v.InferOutput<typeof runVerdictsSchema>

/** What an earlier version has counted lacks the verdicts that it did not know. */
const noVerdicts = Object.fromEntries(verdicts.map((verdict) => [verdict, 0])) as Record<(typeof verdicts)[number], 0>

export const runSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    ...hiddenEntries,
    kind: v.picklist(runKinds),
    status: v.picklist(runStatuses),
    status_reason: v.nullable(v.string()),
    actor: v.string(),
    reason: v.nullable(v.string()),
    selection: v.pipe(
      v.strictObject({
        filter: v.exactOptional(messageFilterSchema),
        ids: v.exactOptional(v.pipe(count, v.description('How many ids were named.'))),
        failed_again_in: v.exactOptional(v.string()),
        changed_in: v.exactOptional(v.string()),
        keys: v.exactOptional(v.pipe(count, v.description('How many keys were named.'))),
      }),
      v.description('The frozen selection, exactly one of these; an error group is a filter by `group_id`.'),
      v.title('FrozenSelection'),
    ),
    cutoff: instantText,
    matched: totalSchema,
    target_topic: v.nullable(v.string()),
    rate_per_second: v.nullable(v.number()),
    staleness: v.pipe(
      v.nullable(v.picklist(['send'])),
      v.description('send: also what a policy would hold because it is not known to be fresh.'),
    ),
    max_lag: v.pipe(v.nullable(count), v.description('Records that a group which failed may be behind.')),
    force: v.boolean(),
    adopt: v.pipe(
      v.boolean(),
      v.description('Of kind origin: originals that are proved take the place of their copies.'),
    ),
    patch: v.pipe(v.nullable(jsonPatchSchema), v.description('In lists null where it takes more than 4 KiB.')),
    canary: v.nullable(
      v.pipe(
        v.strictObject({
          first: count,
          // biome-ignore lint/suspicious/noThenProperty: the name that people write; nobody awaits it
          then: v.pipe(v.number(), v.description('A share of all, from 0 to 1.')),
          wait: v.pipe(v.string(), v.description('A duration such as 60s.')),
          max_refailure: v.number(),
        }),
        v.title('Canary'),
      ),
    ),
    on_refailure: v.picklist(['continue', 'pause', 'cancel']),
    max_refailure: v.number(),
    step: v.nullable(
      v.pipe(
        v.strictObject({
          name: v.string(),
          entered_at: v.nullable(instantText),
          taken: v.pipe(count, v.description('Messages that this step has taken or changed.')),
          of: v.pipe(v.nullable(count), v.description('How many it takes; null where it takes all that are left.')),
          judged_at: v.pipe(
            v.nullable(instantText),
            v.description('When its messages were found good, or too many came back.'),
          ),
        }),
        v.title('RunStep'),
      ),
    ),
    held_up_by: v.pipe(
      v.nullable(v.array(v.string())),
      v.description('Why it does not go on, or goes on slowly; empty where nothing holds it up. Null in lists.'),
    ),
    arrived_since: v.pipe(
      v.nullable(totalSchema),
      v.description(
        'Messages that its filter finds and that came in after the cutoff. Null in lists and for other selections.',
      ),
    ),
    saga_id: v.nullable(v.string()),
    progress: v.strictObject({
      step: v.nullable(v.string()),
      taken: count,
      waiting: count,
      done: count,
      resolved: count,
      failed: count,
      failed_again: count,
      withdrawn: count,
      given_back: count,
      skipped: v.record(v.string(), count),
      origins: v.pipe(
        v.nullable(v.record(v.picklist(originStates), count)),
        v.description(
          'Of kind origin: how many originals were found in which state. Null before the first is compared.',
        ),
      ),
      rate: v.nullable(v.number()),
      eta_seconds: v.nullable(v.number()),
      verdicts: v.pipe(
        v.nullable(runVerdictsSchema),
        v.description(
          'What became of the messages after they were sent, as of counted_at. Null before the first count, and for runs that send nothing.',
        ),
      ),
    }),
    created_at: instantText,
    started_at: v.nullable(instantText),
    ended_at: v.nullable(instantText),
  }),
  v.title('Run'),
)

export type RunJson = v.InferOutput<typeof runSchema>

/** What is looked up for one run, and not for the runs of a list. */
export type RunExtras = { readonly heldUpBy: readonly string[] | null; readonly arrivedSince: Total | null }

const noExtras: RunExtras = { heldUpBy: null, arrivedSince: null }

export function runJson(run: Shown<RunView>, { heldUpBy, arrivedSince } = noExtras, now = new Date()): RunJson {
  const skipped = JSON.parse(run.skipped) as Record<string, number>
  const { rate, etaSeconds } = progressOf(run, {
    matched: { value: run.matched, relation: run.matched_relation },
    skipped: Object.values(skipped).reduce((sum, count) => sum + count, 0),
    step: run.step,
    startedAt: run.started_at,
    endedAt: run.ended_at,
    now,
  })
  return {
    id: run.id,
    kind: run.kind,
    status: run.status,
    status_reason: run.status_reason,
    actor: run.actor,
    reason: run.reason,
    selection: selectionJson(run),
    cutoff: run.cutoff.toISOString(),
    matched: { value: run.matched, relation: run.matched_relation },
    target_topic: run.target_topic,
    rate_per_second: run.rate_per_second,
    staleness: run.staleness,
    max_lag: run.max_lag,
    force: run.is_forced,
    adopt: run.adopts,
    patch: run.patch === null ? null : (parseExact(run.patch) as RunJson['patch']),
    canary: canaryJson(canaryOf(run)),
    on_refailure: run.on_refailure,
    max_refailure: run.max_refailure,
    step: stepJson(run),
    held_up_by: heldUpBy && [...heldUpBy],
    arrived_since: arrivedSince,
    saga_id: run.saga_id,
    progress: {
      step: run.step,
      taken: run.taken,
      waiting: waitingOf(run),
      done: run.done,
      resolved: run.resolved,
      failed: run.failed,
      failed_again: run.failed_again,
      withdrawn: run.withdrawn,
      given_back: run.given_back,
      skipped,
      origins: run.compared === null ? null : JSON.parse(run.compared),
      rate,
      eta_seconds: etaSeconds,
      verdicts: run.verdicts === null ? null : { ...noVerdicts, ...(JSON.parse(run.verdicts) as RunVerdicts) },
    },
    created_at: run.created_at.toISOString(),
    started_at: run.started_at?.toISOString() ?? null,
    ended_at: run.ended_at?.toISOString() ?? null,
    ...hiddenOf(run),
  }
}

function canaryJson(canary: Canary | null): RunJson['canary'] {
  if (canary === null) return null
  const { first, share, waitMs, maxRefailure } = canary
  // biome-ignore lint/suspicious/noThenProperty: the name that people write; nobody awaits it
  return { first, then: share, wait: formatDuration(waitMs), max_refailure: maxRefailure }
}

function stepJson(run: RunView): RunJson['step'] {
  if (run.step === null) return null
  const size =
    run.step === 'settle' || run.step === 'touch' || run.step === 'compare'
      ? null
      : stepSize(run.step as TakeStep, { matched: run.matched, canary: canaryOf(run) })
  return {
    name: run.step,
    entered_at: run.step_entered_at?.toISOString() ?? null,
    taken: run.step === 'settle' ? run.taken : run.step_taken,
    of: size,
    judged_at: run.judged_at?.toISOString() ?? null,
  }
}

export const exampleRun: RunJson = {
  id: '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11',
  kind: 'retry',
  status: 'running',
  status_reason: null,
  actor: 'anna',
  reason: 'the consumer is fixed',
  selection: { filter: { topic: 'orders.dlq.v1' } },
  cutoff: '2026-02-20T10:30:00.000Z',
  matched: { value: 3000, relation: 'eq' },
  target_topic: null,
  rate_per_second: 100,
  staleness: null,
  max_lag: null,
  force: false,
  adopt: false,
  patch: null,
  canary: null,
  on_refailure: 'continue',
  max_refailure: 0.05,
  step: {
    ...{ name: 'settle', entered_at: '2026-02-20T10:30:01.000Z', taken: 3000, of: null, judged_at: null },
  },
  held_up_by: ['its rate: 100 a second'],
  arrived_since: { value: 9, relation: 'eq' },
  saga_id: '7b1e9a52-93c4-4a57-8a0a-64cb6a5a2f10',
  progress: {
    ...{ step: 'settle', taken: 3000, waiting: 1000, done: 0, resolved: 1990, failed: 0, failed_again: 10 },
    ...{ withdrawn: 0, given_back: 0, skipped: { budget_spent: 2 }, origins: null, rate: 100, eta_seconds: 10 },
    verdicts: {
      ...{ sent: 2, passed: 9, consumed: 79, confirmed: 1, came_back: 1, skipped: 0, expired: 0, unknown: 0 },
      counted_at: '2026-02-20T10:31:00.000Z',
    },
  },
  created_at: '2026-02-20T10:30:00.000Z',
  started_at: '2026-02-20T10:30:00.100Z',
  ended_at: null,
}

/** What a run erases is not shown by the run. */
function selectionJson({ kind, selection }: Pick<RunView, 'kind' | 'selection'>): RunJson['selection'] {
  const shown = JSON.parse(selection) as RunJson['selection']
  return kind === 'erase' && shown.ids === undefined && shown.keys === undefined ? { filter: {} } : shown
}
