// Creates bulk runs: one operation on a frozen selection of dead letters, which the retriers carry out.

import { changeProblems } from 'dlq-core/domain/message/change-value.ts'
import { beyondScope, isSent, type RunMeans, type RunSelection } from 'dlq-core/domain/message/run.ts'
import { adminKinds } from 'dlq-core/domain/message/run-kinds.ts'
import { isTemplate } from 'dlq-core/domain/retry/fill-target.ts'
import * as v from 'valibot'
import { actAs, roleNames } from '../../access/access.ts'
import { refuseTarget } from '../../fleet/refuse-target.ts'
import { refuseWithoutKafka } from '../../fleet/refuse-without-kafka.ts'
import { totalSchema } from '../../fleet/totals-json.ts'
import { ApiError } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import {
  allowedFilter,
  refuseTarget as refuseMaskedTarget,
  refusePart,
  refusePatch,
} from '../../masks/refuse-hidden.ts'
import type { Sight } from '../../masks/sight.ts'
import { withEncodedKey } from '../../payloads/encode-keys.ts'
import { keyHeader, type Made, madeBefore, replayedHeader } from '../../request/make-once.ts'
import { createRun } from '../../runs/create-run.ts'
import { describeRun } from '../../runs/describe-run.ts'
import { findRun } from '../../runs/find-run.ts'
import { maxShown, previewPatch } from '../../runs/preview-patch.ts'
import { exampleRun, runSchema } from '../../runs/run-json.ts'
import { runBody } from '../../runs/run-request.ts'
import { surveySelection, toSelection, withEncodedKeys } from '../../runs/run-selection.ts'
import { blastSchema, exampleBlast } from '../../topics/blast.ts'

const count = v.pipe(v.number(), v.integer())
const counts = v.record(v.string(), count)

const surveySchema = v.pipe(
  v.strictObject({
    dry_run: v.literal(true),
    complete: v.boolean(),
    matched: v.pipe(totalSchema, v.description('The number that `expect_count` is compared with.')),
    eligible: count,
    ineligible: counts,
    remedies: v.pipe(
      v.record(v.string(), v.string()),
      v.description('What to do about those that are not eligible, by the same reasons.'),
    ),
    topics: counts,
    groups: counts,
    ages: counts,
    sample: v.pipe(v.array(v.string()), v.description('The first 20 of those that are eligible, by their ids.')),
    blast: v.exactOptional(
      v.pipe(blastSchema, v.description('Of a retry: whom the messages would reach, besides the group that failed.')),
    ),
    diff: v.exactOptional(
      v.pipe(
        v.array(
          v.strictObject({
            id: v.string(),
            before: v.unknown(),
            after: v.unknown(),
            omitted: v.pipe(
              v.boolean(),
              v.description(
                `Whether \`before\` and \`after\` are null because one has more than ${maxShown} characters.`,
              ),
            ),
            problem: v.nullable(v.picklist(changeProblems)),
          }),
        ),
        v.description('With a patch: sample messages before and after it.'),
      ),
    ),
  }),
  v.title('RunSurvey'),
)

/** @throws {ApiError} where no retrier could send it. Messages that applications pull are only made due, without Kafka. */
async function refuseUnsendable(
  { sql, access, policies }: Pick<Call, 'sql' | 'access' | 'policies'>,
  run: RunMeans,
  selection: RunSelection,
): Promise<void> {
  try {
    await refuseWithoutKafka(sql)
  } catch (refusal) {
    if (run.kind !== 'retry') throw refusal
    await policies.refresh()
    const isPulled = (topic: string) =>
      policies.policyOf({ original_topic: topic, dlq_topic: null }).delivery === 'pull'
    const { complete, eligible, topics } = await surveySelection(sql, selection, { ...run, scope: access.topics })
    // A survey names only the first of very many topics.
    const named = Object.values(topics).reduce((sum, count) => sum + count, 0)
    if (!complete || named < eligible || !Object.keys(topics).every(isPulled)) throw refusal
  }
}

/** @throws {ApiError} 403 where the selection asks for something hidden */
function allowedSelection(selection: RunSelection, sight: Sight): RunSelection {
  return 'filter' in selection ? { ...selection, filter: allowedFilter(selection.filter, sight) } : selection
}

export const runCreationRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/runs',
      summary: 'Create a run over many dead letters',
      description: [
        'The selection is frozen: messages that arrive later are not touched. With `expect_count`, the run is refused where',
        'more or fewer messages match. `dry_run` changes nothing and shows what the run would do. A canary sends the first messages,',
        'waits to see whether they fail again, sends a share, waits again, and sends the rest. With `force`, a retry takes DEAD',
        'messages too, whatever their budget. With an `Idempotency-Key`, asking again makes no second run.',
      ].join(' '),
      role: 'write',
      masks: 'shown',
      // The dry run of an edit does.
      showsPayloads: true,
      headers: v.object(keyHeader),
      body: runBody,
      bodyExample: {
        kind: 'retry',
        selection: { filter: { topic: 'orders.dlq.v1', from: '2026-02-20' } },
        expect_count: 3000,
        rate_per_second: 100,
        // biome-ignore lint/suspicious/noThenProperty: the name that people write; nobody awaits it
        canary: { first: 1, then: '1%', wait: '60s', max_refailure: '5%' },
        reason: 'the consumer is fixed',
      },
      answers: {
        200: {
          description: 'The preview of a dry run.',
          schema: surveySchema,
          example: {
            ...{ dry_run: true, complete: true, matched: { value: 3000, relation: 'eq' }, eligible: 3000 },
            ...{ ineligible: { dead: 12 }, remedies: { dead: '12 are DEAD: send with force, or revive first' } },
            topics: { orders: 3000 },
            ...{ groups: { none: 3000 }, ages: { 'under 1d': 3000 }, sample: [exampleRun.id], blast: exampleBlast },
          },
        },
        202: {
          description: 'The run.',
          schema: runSchema,
          example: exampleRun,
          headers: { Location: 'Where to look after it.', ...replayedHeader },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT', 'SYS_DLQ_KAFKA_UNAVAILABLE'],
    },
    async (call) => {
      const { c, sql, access, sight, by, headers, body } = call
      const { kind, force: is_forced, expect_count: expected, expect_tolerance: tolerance } = body
      const scope = access.topics
      // As an admin: who is one of some topics, and a writer of all, purges nothing.
      const purging = actAs(c.get('access'), 'admin')
      const isForAdmins = adminKinds.includes(kind)
      if (isForAdmins && purging === null)
        throw new ApiError('SYS_DLQ_FORBIDDEN', `this needs the role ${roleNames.admin}`)
      if (kind === 'erase' && access.payloads !== 'full')
        throw new ApiError('SYS_DLQ_FORBIDDEN', 'erasing needs a token with payloads: full')
      const fault = beyondScope(body, isForAdmins ? purging!.topics : scope)
      if (fault !== null) throw new ApiError('SYS_DLQ_FORBIDDEN', fault)
      const once = { actor: access.actor, key: headers['idempotency-key'], request: () => `run ${call.exactJson()}` }
      const before = body.dry_run ? null : await madeBefore(sql, once)
      if (before !== null) return sendRun(call, before)
      const input = await withEncodedKeys(call, body.selection, (...path) => call.exactJson('selection', ...path))
      const allowed = allowedSelection(toSelection(input, { kind, all: body.all }), sight)
      const selection = 'filter' in allowed ? { filter: await withEncodedKey(call, allowed.filter) } : allowed
      // A run may touch messages of any topic.
      if (body.patch !== undefined) refusePatch(body.patch, sight.anywhere)
      if (kind === 'origin') for (const part of ['key', 'value', 'headers'] as const) refusePart(part, sight.anywhere)
      if (body.target_topic !== null) refuseMaskedTarget(sight.anywhere)
      const run = { kind, is_forced }
      if ('failed_again_in' in selection) await findRun(sql, { id: selection.failed_again_in, scope })
      if ('changed_in' in selection) await findRun(sql, { id: selection.changed_in, scope })
      // What a template names is only known of each message; the retriers refuse it there.
      if (body.target_topic !== null && !isTemplate(body.target_topic)) await refuseTarget(call, body.target_topic)
      const patch = body.patch === undefined ? null : call.exactJson('patch')
      if (body.dry_run) {
        await call.policies.refresh()
        const { target_topic: targetTopic, rate_per_second: ratePerSecond } = body
        const blast = { targetTopic, ratePerSecond, policyOf: call.policies.policyOf, sight }
        const survey = await surveySelection(sql, selection, { ...run, scope, blast })
        const diff = patch === null ? {} : { diff: await previewPatch(call, { ids: survey.sample, patch }) }
        return c.json({ dry_run: true, ...survey, ...diff })
      }
      if (isSent(kind)) await refuseUnsendable(call, run, selection)
      if (kind === 'origin') await refuseWithoutKafka(sql)
      const made = await createRun(
        sql,
        {
          ...{ ...run, selection, scope, reason: body.reason ?? null, retry_all_topic: null, patch },
          expect: expected === undefined ? null : { expected, tolerance },
          target_topic: body.target_topic,
          rate_per_second: body.rate_per_second,
          max_lag: body.max_lag,
          staleness: body.staleness ?? null,
          canary: body.canary === null ? null : JSON.stringify(body.canary),
          on_refailure: body.on_refailure,
          max_refailure: body.max_refailure,
          erase_mode: kind === 'erase' ? (body.mode ?? 'contents') : null,
          adopts: body.adopt,
        },
        { by, once },
      )
      return sendRun(call, made)
    },
  ),
]

async function sendRun(call: Call, { id, replayed }: Made): Promise<Response> {
  const { c, sql, access } = call
  const run = await describeRun(call, await findRun(sql, { id, scope: access.topics }))
  c.header('Location', `/api/v1/runs/${id}`)
  if (replayed) c.header('Idempotency-Replayed', 'true')
  return c.json(run, 202)
}
