// The policies that people set: the rows of dlq_policies.

import { isDeepStrictEqual } from 'node:util'
import { captureGlob } from 'dlq-core/domain/failure/topic-globs.ts'
import { isTemplate } from 'dlq-core/domain/retry/fill-target.ts'
import { fieldOfSetting, type PolicySettings, settingNames } from 'dlq-core/domain/retry/policy-settings.ts'
import {
  backoffs,
  defaultRetryPolicy,
  deliveries,
  orderings,
  payloadChoices,
  recordChoices,
  timestampChoices,
} from 'dlq-core/domain/retry/retry-policy.ts'
import { stalenessChoices } from 'dlq-core/domain/staleness/staleness.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { listTopicPairs } from 'dlq-core/queries/reading/summary.ts'
import {
  deletePolicy,
  findPolicy,
  listPolicies,
  lockPolicies,
  type PolicyRow,
  upsertPolicy,
} from 'dlq-core/queries/retry/policies.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { policySettingsSchema } from 'dlq-core/runtime/config/policy-schema.ts'
import * as v from 'valibot'
import { requireConditions, requireTag, tagOf } from '../answers/entity-tag.ts'
import { refuseQuoted, settingValueSchema, shownSetting } from '../fleet/policy-json.ts'
import { refuseUnallowedTarget } from '../fleet/refuse-target.ts'
import { ApiError } from '../http/api-error.ts'
import { type ApiDeps, defineRoute } from '../http/define-route.ts'
import { count } from '../messages/message-json.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'
import { ifMatchHeader, reason } from '../request/request-schemas.ts'
import { previewPolicy } from '../topics/policy-preview.ts'

const number = v.optional(v.number())
const durationText = v.optional(v.string())

/** Settings that are left out are absent. Durations are text, as PUT takes them. */
const settingEntries = {
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
  record: v.optional(v.picklist(recordChoices)),
  scrub: v.optional(v.array(v.string())),
  delivery: v.optional(v.picklist(deliveries)),
  refailure_threshold: number,
  refailure_share: number,
  refailure_window: durationText,
  staleness: v.optional(v.picklist(stalenessChoices)),
  for_group_header: v.optional(v.boolean()),
  verdict_group: v.optional(v.string()),
  verdict_horizon: durationText,
  auto_resolve: durationText,
  retention: durationText,
}

const policySchema = v.pipe(
  v.strictObject({ pattern: v.string(), ...settingEntries, updated_at: v.nullable(timestampText) }),
  v.title('Policy'),
)

const configuredSchema = v.pipe(
  v.strictObject({
    pattern: v.pipe(v.nullable(v.string()), v.description('Null: the section "retry", for every topic.')),
    ...settingEntries,
  }),
  v.title('ConfiguredPolicy'),
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
        pending: v.pipe(count, v.description('The PENDING messages of these topics.')),
        decides: v.array(v.picklist(settingNames)),
        changes: v.pipe(
          v.array(
            v.pipe(
              v.strictObject({
                setting: v.picklist(settingNames),
                before: settingValueSchema,
                after: settingValueSchema,
              }),
              v.title('PolicyChange'),
            ),
          ),
          v.description('What PUT changes, or would change; empty where the policy is only read.'),
        ),
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
      pending: 120,
      decides: ['max_retries', 'initial_delay', 'rate_per_second'],
      changes: [{ setting: 'max_retries', before: 3, after: 5 }],
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
      description:
        'With the layers below them: the built-in defaults, and the policies of the configuration. A token for some topics sees only the patterns within these topics.',
      role: 'read',
      masks: 'none',
      answers: {
        200: {
          description: 'All of them.',
          schema: v.strictObject({
            policies: v.array(policySchema),
            configured: v.pipe(
              v.array(configuredSchema),
              v.description('The policies of the configuration; those of `policies` override them.'),
            ),
            defaults: v.pipe(v.strictObject(settingEntries), v.title('PolicyDefaults')),
          }),
          example: {
            policies: [examplePolicy],
            configured: [{ pattern: null, max_retries: 4 }],
            defaults: { auto_retry: true, max_retries: 3 },
          },
        },
      },
    },
    async ({ c, sql, access, policyLayers: { section, fileEntries } }) => {
      const rows = await listPolicies(sql, { scope: access.topics })
      const shown = fileEntries.filter(
        ({ pattern }) => access.topics === null || access.topics.some((glob) => captureGlob(glob, pattern) !== null),
      )
      return c.json({
        policies: rows.map(policyJson),
        configured: [
          ...(Object.keys(settingsJson(section)).length > 0 ? [{ pattern: null, ...settingsJson(section) }] : []),
          ...shown.map((entry) => ({ pattern: entry.pattern, ...settingsJson(entry) })),
        ],
        defaults: settingsJson(defaultSettings),
      })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/policies/:pattern',
      summary: 'One policy, and the topics that it matches',
      role: 'read',
      masks: 'none',
      params: patternPath,
      answers: {
        200: {
          description: 'The policy.',
          headers: { ETag: 'For If-Match of PUT and DELETE.' },
          schema: policyWithMatches,
          example: {
            ...exampleWithMatches,
            matches: exampleWithMatches.matches.map((one) => ({ ...one, changes: [] })),
          },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, policyLayers, params: { pattern } }) => {
      const rows = await listPolicies(sql, { scope: access.topics })
      const policy = rows.find((row) => row.pattern === pattern)
      if (!policy) throw noPolicy(pattern)
      c.header('ETag', tagOf(policyJson(policy)))
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
      summary: 'Create or replace a policy',
      description: [
        'The body replaces the whole policy. For settings that it leaves out, a wider pattern, the configuration or the',
        'default decides. With `dry_run=true` nothing changes, and the answer shows the policy as it would be.',
      ].join(' '),
      role: 'admin',
      masks: 'none',
      // A pattern may match topics that the token may not see, now or later.
      allTopics: true,
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
      headers: v.object({
        ...ifMatchHeader,
        'if-none-match': v.optional(
          v.pipe(v.literal('*', 'must be *'), v.description('`*`: only a new policy; 412 where there is one')),
        ),
      }),
      body: policySettingsSchema,
      bodyExample: { max_retries: 5, initial_delay: '1m', rate_per_second: 20 },
      answers: {
        200: {
          description: 'The policy as it is now, or would be.',
          headers: { ETag: 'Of the policy as it is now; absent with `dry_run`.' },
          schema: policyWithMatches,
          example: exampleWithMatches,
        },
      },
      faults: ['SYS_DLQ_PRECONDITION_FAILED'],
    },
    async ({ c, sql, by, policyLayers, allowedTargets, params: { pattern }, headers, query, body, exactJson }) => {
      refuseQuoted(body, exactJson)
      // What a template names is only known of each message; the retriers refuse it there.
      if (typeof body.redirect_topic === 'string' && !isTemplate(body.redirect_topic))
        refuseUnallowedTarget(allowedTargets, body.redirect_topic, 'redirect_topic')
      if (query.dry_run) {
        const rows = await listPolicies(sql, { scope: null })
        const wanted = { ...body, pattern, updated_at: null }
        requireConditions(headers, tagOrNull(rows.find((row) => row.pattern === pattern)), `policy ${pattern}`)
        const others = rows.filter((row) => row.pattern !== pattern)
        return c.json(
          await withMatches({ sql, policyLayers }, wanted, { before: rows, rows: [...others, wanted], scope: null }),
        )
      }
      const { policy, rowsBefore } = await sql.begin(async (sql) => {
        await lockPolicies(sql)
        const rowsBefore = await listPolicies(sql, { scope: null })
        const before = rowsBefore.find((row) => row.pattern === pattern)
        requireConditions(headers, tagOrNull(before), `policy ${pattern}`)
        if (before && isDeepStrictEqual(settingsJson(before), settingsJson(body))) return { policy: before, rowsBefore }
        const after = await upsertPolicy(sql, pattern, body)
        await writeAudit(sql, {
          ...by,
          ...{ action: 'policy.put', target_type: 'policy', target_id: pattern, reason: query.reason },
          ...{ before: before ? policyJson(before) : null, after: policyJson(after) },
        })
        return { policy: after, rowsBefore }
      })
      c.header('ETag', tagOf(policyJson(policy)))
      return c.json(
        await withMatches({ sql, policyLayers }, policy, {
          before: rowsBefore,
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
      role: 'admin',
      masks: 'none',
      // A pattern may match topics that the token may not see, now or later.
      allTopics: true,
      params: patternPath,
      query: v.strictObject({ reason }),
      headers: v.object(ifMatchHeader),
      answers: {
        200: {
          description: 'It is deleted.',
          schema: v.strictObject({ success: v.literal(true), message: v.string() }),
          example: { success: true, message: 'policy orders.* deleted' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_PRECONDITION_FAILED'],
    },
    async ({ c, sql, by, params: { pattern }, headers, query }) => {
      await sql.begin(async (sql) => {
        await lockPolicies(sql)
        const before = await findPolicy(sql, pattern)
        if (!before) throw noPolicy(pattern)
        requireTag(headers['if-match'], tagOrNull(before), `policy ${pattern}`)
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

type Said = PolicySettings & { pattern: string; updated_at: Date | null }

async function withMatches(
  { sql, policyLayers }: Pick<ApiDeps, 'sql' | 'policyLayers'>,
  policy: Said,
  { before, rows, scope }: { before?: readonly PolicyRow[]; rows: readonly (PolicyRow | Said)[]; scope: TopicScope },
) {
  const topics = await listTopicPairs(sql, { scope, limit: maxTopics })
  const matches = previewPolicy(policy.pattern, { topics, configured: policyLayers, rows, before })
  return { policy: policyJson(policy), matches }
}

function policyJson({ pattern, updated_at, ...settings }: Said) {
  return { pattern, ...settingsJson(settings), updated_at: updated_at && timestamp(updated_at) }
}

function tagOrNull(policy: Said | undefined): string | null {
  return policy === undefined ? null : tagOf(policyJson(policy))
}

/** Without those that are not set. */
function settingsJson(settings: PolicySettings) {
  const said = settingNames.flatMap((name): [string, unknown][] => {
    const value = shownSetting(name, settings[name])
    return value === null ? [] : [[name, value]]
  })
  return Object.fromEntries(said)
}

const defaultSettings = Object.fromEntries(
  settingNames.map((name) => [name, defaultRetryPolicy[fieldOfSetting[name]]]),
) as PolicySettings
