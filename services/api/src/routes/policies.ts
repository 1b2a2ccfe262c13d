// How the dead letters of topics are retried: the rows of dlq_policies.

import { type PolicySettings, settingNames } from 'dlq-core/policy-settings.ts'
import { writeAudit } from 'dlq-core/queries/audit.ts'
import {
  deletePolicy,
  findPolicy,
  listPolicies,
  lockPolicies,
  type PolicyRow,
  upsertPolicy,
} from 'dlq-core/queries/policies.ts'
import { listTopicPairs } from 'dlq-core/queries/summary.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { backoffs, deliveries, orderings, payloadChoices, timestampChoices } from 'dlq-core/retry-policy.ts'
import { policySettingsSchema } from 'dlq-core/runtime/policy-schema.ts'
import * as v from 'valibot'
import type { Access } from '../access.ts'
import { ApiError } from '../api-error.ts'
import { type ApiDeps, defineRoute } from '../define-route.ts'
import { timestamp, timestampText } from '../message-json.ts'
import { shownSetting } from '../policy-json.ts'
import { previewPolicy } from '../policy-preview.ts'
import { reason } from '../request-schemas.ts'

const number = v.optional(v.number())
const durationText = v.optional(v.string())

/** What is not said is not there. Durations as text, as PUT takes them. */
const policySchema = v.pipe(
  v.strictObject({
    pattern: v.string(),
    auto_retry: v.optional(v.boolean()),
    max_retries: number,
    backoff: v.optional(v.picklist(backoffs)),
    initial_delay: durationText,
    multiplier: number,
    max_delay: durationText,
    backoff_list: v.optional(v.array(v.string())),
    run_every: durationText,
    run_limit: number,
    rate_per_second: number,
    max_in_flight: number,
    paused: v.optional(v.boolean()),
    redirect_topic: v.optional(v.string()),
    ordering: v.optional(v.picklist(orderings)),
    timestamp: v.optional(v.picklist(timestampChoices)),
    weight: number,
    payload: v.optional(v.picklist(payloadChoices)),
    delivery: v.optional(v.picklist(deliveries)),
    refailure_threshold: number,
    refailure_window: durationText,
    retention: durationText,
    updated_at: v.nullable(timestampText),
  }),
  v.title('Policy'),
)

const examplePolicy = {
  pattern: 'orders.*',
  max_retries: 5,
  initial_delay: '1m',
  rate_per_second: 20,
  updated_at: '2026-02-20T10:30:00.000+00:00',
}

const policyWithMatches = v.strictObject({
  policy: policySchema,
  matches: v.array(
    v.pipe(
      v.strictObject({
        original_topic: v.string(),
        dlq_topic: v.nullable(v.string()),
        decides: v.array(v.picklist(settingNames)),
      }),
      v.title('PolicyMatch'),
    ),
  ),
})
const exampleWithMatches = {
  policy: examplePolicy,
  matches: [
    {
      original_topic: 'orders.events.v1',
      dlq_topic: 'orders.dlq.v1',
      decides: ['max_retries', 'initial_delay', 'rate_per_second'],
    },
  ],
}

const patternPath = v.object({
  pattern: v.pipe(
    v.string(),
    v.regex(
      /^[A-Za-z0-9_.*?-]{1,249}$/,
      'invalid pattern: it must be one topic glob of letters, digits, ".", "_", "-", and the wildcards "*" and "?"',
    ),
  ),
})

/** Topics beyond these are left out of a preview. */
const maxTopics = 1000

export const policyRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/policies',
      summary: 'The policies, in the order of their patterns',
      description: 'Not those of the configuration. Who may see only some topics sees the patterns within them.',
      role: 'read',
      answers: {
        200: {
          description: 'All of them.',
          schema: v.strictObject({ policies: v.array(policySchema) }),
          example: { policies: [examplePolicy] },
        },
      },
    },
    async ({ c, sql, access }) => {
      const rows = await listPolicies(sql, { scope: access.topics })
      return c.json({ policies: rows.map(policyJson) })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/policies/:pattern',
      summary: 'One policy, and the topics that it matches',
      role: 'read',
      params: patternPath,
      answers: { 200: { description: 'The policy.', schema: policyWithMatches, example: exampleWithMatches } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, policyLayers, params: { pattern } }) => {
      const rows = await listPolicies(sql, { scope: access.topics })
      const policy = rows.find((row) => row.pattern === pattern)
      if (!policy) throw noPolicy(pattern)
      return c.json(
        await withMatches({ sql, policyLayers }, policy, {
          rows: await listPolicies(sql, { scope: null }),
          scope: access.topics,
        }),
      )
    },
  ),

  defineRoute(
    {
      method: 'put',
      path: '/api/v1/policies/:pattern',
      summary: 'Make or replace a policy',
      description: [
        'What the body does not say, the policy does not say afterwards: a wider pattern, the configuration or the',
        'default decides. With `dry_run=true` nothing changes, and the answer shows what would. Needs a token for all topics.',
      ].join(' '),
      role: 'admin',
      params: patternPath,
      query: v.strictObject({
        dry_run: v.optional(
          v.pipe(
            v.picklist(['true', 'false'], 'must be true or false'),
            v.transform((text) => text === 'true'),
          ),
          'false',
        ),
        reason,
      }),
      body: policySettingsSchema,
      bodyExample: { max_retries: 5, initial_delay: '1m', rate_per_second: 20 },
      answers: {
        200: {
          description: 'The policy as it is now, or would be.',
          schema: policyWithMatches,
          example: exampleWithMatches,
        },
      },
    },
    async ({ c, sql, access, by, policyLayers, params: { pattern }, query, body }) => {
      refuseLimited(access)
      if (query.dry_run) {
        const rows = await listPolicies(sql, { scope: null })
        const wanted = { ...body, pattern, updated_at: null }
        const others = rows.filter((row) => row.pattern !== pattern)
        return c.json(await withMatches({ sql, policyLayers }, wanted, { rows: [...others, wanted], scope: null }))
      }
      const policy = await sql.begin(async (sql) => {
        await lockPolicies(sql)
        const before = await findPolicy(sql, pattern)
        const after = await upsertPolicy(sql, pattern, body)
        await writeAudit(sql, {
          ...by,
          ...{ action: 'policy.put', target_type: 'policy', target_id: pattern, reason: query.reason },
          ...{ before: before && policyJson(before), after: policyJson(after) },
        })
        return after
      })
      return c.json(
        await withMatches({ sql, policyLayers }, policy, {
          rows: await listPolicies(sql, { scope: null }),
          scope: null,
        }),
      )
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/api/v1/policies/:pattern',
      summary: 'Delete a policy',
      description: 'Needs a token for all topics.',
      role: 'admin',
      params: patternPath,
      query: v.strictObject({ reason }),
      answers: {
        200: {
          description: 'It is gone.',
          schema: v.strictObject({ success: v.literal(true), message: v.string() }),
          example: { success: true, message: 'policy orders.* deleted' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, by, params: { pattern }, query }) => {
      refuseLimited(access)
      await sql.begin(async (sql) => {
        await lockPolicies(sql)
        const before = await findPolicy(sql, pattern)
        if (!before) throw noPolicy(pattern)
        await deletePolicy(sql, pattern)
        await writeAudit(sql, {
          ...by,
          ...{ action: 'policy.delete', target_type: 'policy', target_id: pattern, reason: query.reason },
          before: policyJson(before),
        })
      })
      return c.json({ success: true, message: `policy ${pattern} deleted` })
    },
  ),
]

function noPolicy(pattern: string): ApiError {
  return new ApiError('SYS_DLQ_NOT_FOUND', `policy not found: ${pattern}`)
}

/** A pattern may match topics that the asker may not see, now or later. */
function refuseLimited({ topics }: Access): void {
  if (topics !== null)
    throw new ApiError('SYS_DLQ_FORBIDDEN', 'policies are changed by tokens for all topics only; this one is limited')
}

type Said = PolicySettings & { pattern: string; updated_at: Date | null }

async function withMatches(
  { sql, policyLayers }: Pick<ApiDeps, 'sql' | 'policyLayers'>,
  policy: Said,
  { rows, scope }: { rows: readonly (PolicyRow | Said)[]; scope: TopicScope },
) {
  const topics = await listTopicPairs(sql, { scope, limit: maxTopics })
  const matches = previewPolicy(policy.pattern, { topics, configured: policyLayers, rows })
  return { policy: policyJson(policy), matches }
}

function policyJson({ pattern, updated_at, ...settings }: Said) {
  const said = settingNames.flatMap((name): [string, unknown][] => {
    const value = shownSetting(name, settings[name])
    return value === null ? [] : [[name, value]]
  })
  return { pattern, ...Object.fromEntries(said), updated_at: updated_at && timestamp(updated_at) }
}
