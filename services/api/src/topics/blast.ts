// Whom a run's messages would reach, for its dry run: the groups of each target topic, which of them had these records
// before, and how long they would take.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { withoutRetrySuffix } from 'dlq-core/domain/failure/topic-names.ts'
import { areOtherGroups } from 'dlq-core/domain/failure/topic-routes.ts'
import { hidesKey } from 'dlq-core/domain/masks/create-masks.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import {
  countSeenBefore,
  listOvertaken,
  listTargetParts,
  listTargetReaders,
  type Overtaken,
  readersLookedAt,
  type TargetPart,
  type TargetReader,
} from 'dlq-core/queries/readers/blast.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import * as v from 'valibot'
import type { Sight } from '../masks/sight.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'

const count = v.pipe(v.number(), v.integer())
const number = v.nullable(v.number())

export const blastSchema = v.pipe(
  v.strictObject({
    as_of: v.pipe(v.nullable(timestampText), v.description('When a retrier last looked at the groups.')),
    targets: v.array(
      v.strictObject({
        topic: v.string(),
        messages: v.strictObject({ value: count, relation: v.picklist(['eq', 'about']) }),
        bytes: v.pipe(
          v.nullable(v.strictObject({ value: count, relation: v.picklist(['eq', 'about']) })),
          v.description('Null where masks hide a key or a value of these messages: its size tells of it.'),
        ),
        produced_per_second: v.pipe(
          number,
          v.description('What others write to it; null while nobody has measured it.'),
        ),
        hottest_partition: v.nullable(v.strictObject({ partition: count, messages: count })),
        groups: v.array(
          v.strictObject({
            group: v.string(),
            role: v.pipe(
              v.picklist(['failed', 'bystander']),
              v.description('A bystander gets the records too, although it has not failed on them.'),
            ),
            type: v.string(),
            state: v.string(),
            members: v.nullable(count),
            lag: v.nullable(count),
            per_second: number,
            best_per_second: v.pipe(number, v.description('Of the last day.')),
            minutes: v.pipe(
              number,
              v.description('How long it would take; null where that is not known, or it would not catch up.'),
            ),
            catches_up: v.pipe(
              v.nullable(v.boolean()),
              v.description(
                'False: it is behind, and has never read faster. Null while that is not known, as of a group that keeps up.',
              ),
            ),
            seen_before: v.pipe(v.nullable(count), v.description('The records that it has read before.')),
          }),
        ),
        gone_groups: v.pipe(count, v.description('Groups without members for a day.')),
        staleness: v.pipe(
          v.strictObject({
            superseded: v.pipe(
              count,
              v.description(
                'A newer dead letter of their key was sent, or failed only for another group; or a retrier found a newer record.',
              ),
            ),
            waiting: v.pipe(count, v.description('A newer dead letter of their key waits as well, or was given up.')),
            unknown: v.pipe(
              count,
              v.description(
                'Where the policy asks for a look: it cannot be told whether a newer record was written, or no retrier has looked yet.',
              ),
            ),
            held: v.pipe(
              v.boolean('must be true or false'),
              v.description(
                'Whether a policy holds those that are superseded or unknown ("staleness": "hold"): the run leaves them out unless it says "staleness": "send".',
              ),
            ),
            examined: v.pipe(
              count,
              v.description(
                'Of so many: the first 200 messages of the run at most, and of these what came from this topic.',
              ),
            ),
          }),
          v.description(
            'The messages that go back to where they came from, and would bring an older state after a newer one. Records that never failed are found only where the policy asks for a look (staleness).',
          ),
        ),
      }),
    ),
  }),
  v.title('Blast'),
)

export type Blast = v.InferOutput<typeof blastSchema>

export const exampleBlast: Blast = {
  as_of: '2026-02-20T10:30:01.000+00:00',
  targets: [
    {
      ...{ topic: 'orders', messages: { value: 3000, relation: 'eq' }, bytes: { value: 3_720_000, relation: 'eq' } },
      ...{ produced_per_second: 41.2, hottest_partition: { partition: 3, messages: 1200 }, gone_groups: 0 },
      staleness: { superseded: 12, waiting: 4, unknown: 1, held: true, examined: 200 },
      groups: [
        {
          ...{
            group: 'billing',
            role: 'failed',
            type: 'classic',
            state: 'Stable',
            members: 3,
            lag: 12,
            seen_before: null,
          },
          ...{ per_second: 40.8, best_per_second: 310, minutes: 0.2, catches_up: true },
        },
        {
          ...{
            group: 'search',
            role: 'bystander',
            type: 'classic',
            state: 'Stable',
            members: 2,
            lag: 0,
            seen_before: 3000,
          },
          ...{ per_second: 41, best_per_second: 95, minutes: 0.9, catches_up: true },
        },
      ],
    },
  ],
}

export type BlastOf = {
  ids: readonly string[]
  /** All messages that the run would take; of more than were examined, figures are scaled. */
  matched: number
  examined: number
  isForced: boolean
  scope: TopicScope
  /** Where the run sends all of them; null: each to its own target. */
  targetTopic: string | null
  ratePerSecond: number | null
  policyOf: PolicyOf
  sight: Sight
}

/** Each costs a look-up in every partition of the table. */
const maxLookedUp = 200

export async function blastOf(sql: Sql, deps: BlastOf): Promise<Blast> {
  const { ids, matched, examined, isForced, scope, targetTopic, ratePerSecond, policyOf, sight } = deps
  const parts = await listTargetParts(sql, { ids, scope, isForced })
  const byTopic = Map.groupBy(parts, (part) =>
    targetOf({ ...part, target_topic: targetTopic ?? part.target_topic }, policyOf(part)),
  )
  // Who may not see a topic learns nothing of its groups.
  const seen = [...byTopic.keys()].filter((topic) => scope === null || matchesTopicGlobs(scope, topic))
  const readers = Map.groupBy(await listTargetReaders(sql, seen), ({ target_topic }) => target_topic)
  const before = await countSeenBefore(sql, { ids, scope, isForced })
  const overtaken = await listOvertaken(sql, {
    ...{ ids, scope, isForced, limit: maxLookedUp },
    seesKeys: !hidesKey(sight.anywhere),
  })
  const scale = examined === 0 ? 1 : Math.max(1, matched / examined)
  const lookedAt = await readersLookedAt(sql)
  return {
    as_of: lookedAt && timestamp(lookedAt),
    targets: [...byTopic].map(([topic, of]) => {
      const messages = Math.round(sumOf(of, ({ count }) => count) * scale)
      const relation = scale === 1 ? 'eq' : 'about'
      const failed = new Set(
        of.flatMap(({ consumer_group: group }) => (group === null ? [] : [withoutRetrySuffix(group)])),
      )
      const all = readers.get(topic) ?? []
      const present = all.filter(({ is_gone: isGone, consumer_group: group }) => !isGone || failed.has(group))
      return {
        topic,
        messages: { value: messages, relation },
        bytes: hidesSizes(of, sight) ? null : { value: Math.round(sumOf(of, ({ bytes }) => bytes) * scale), relation },
        produced_per_second: all.find(({ produced_per_second: rate }) => rate !== null)?.produced_per_second ?? null,
        hottest_partition: hottest(of, scale),
        groups: present.map((reader) => {
          const role = failed.has(reader.consumer_group) ? 'failed' : 'bystander'
          const known = before.find((one) => one.topic === topic && one.consumer_group === reader.consumer_group)
          return {
            ...{ group: reader.consumer_group, role, type: reader.type, state: reader.state, members: reader.members },
            ...{ lag: reader.lag, per_second: reader.per_second, best_per_second: reader.best_per_second },
            ...timeOf(reader, { messages, ratePerSecond }),
            seen_before: role === 'failed' ? null : Math.round((known?.count ?? 0) * scale),
          }
        }),
        gone_groups: all.length - present.length,
        staleness: {
          ...stalenessOf(overtaken.filter((one) => one.topic === topic)),
          held: of.some((part) => part.original_topic === topic && policyOf(part).staleness === 'hold'),
        },
      }
    }),
  }
}

function hidesSizes(parts: readonly TargetPart[], sight: Sight): boolean {
  for (const part of parts) sight.unmasked?.note(null, part)
  const masks = parts.map((part) => sight.maskOf(part))
  return masks.some((mask) => hidesKey(mask) || (mask?.paths ?? null) !== null)
}

/** A group with no more than this many seconds of its reading before it keeps up: it reads what is written, and could more. */
const keepsUpSeconds = 10

/**
 * The group has what its best rate leaves beside what it reads now; the run may be slower. How much a group can that
 * keeps up, and has never read faster, nobody knows.
 */
export function timeOf(
  { per_second: now, best_per_second: best, lag }: Pick<TargetReader, 'per_second' | 'best_per_second' | 'lag'>,
  { messages, ratePerSecond }: { messages: number; ratePerSecond: number | null },
): { minutes: number | null; catches_up: boolean | null } {
  if (now === null || best === null) return { minutes: null, catches_up: null }
  const free = Math.min(best - now, ratePerSecond ?? Number.POSITIVE_INFINITY)
  // A tenth of a record a second is noise.
  if (free < 0.1) return { minutes: null, catches_up: lag !== null && lag > now * keepsUpSeconds ? false : null }
  return { minutes: Math.round((messages / free / 60) * 10) / 10, catches_up: true }
}

function stalenessOf(examined: readonly Overtaken[]) {
  const overtaken = examined.filter(({ is_sent: isSent, answer }) => isSent !== null || answer === 'superseded')
  // Where another group failed on the newer record, this one has read it.
  const superseded = overtaken.filter(
    ({ consumer_group: group, is_sent: isSent, newer_groups: others, answer }) =>
      answer === 'superseded' || isSent || others?.some((other) => areOtherGroups(other, group)),
  )
  return {
    ...{ superseded: superseded.length, waiting: overtaken.length - superseded.length },
    unknown: examined.filter(({ is_sent: isSent, answer }) => isSent === null && isUnknown(answer)).length,
    examined: examined.length,
  }
}

function isUnknown(answer: Overtaken['answer']): boolean {
  return answer === 'unknown' || answer === 'waiting'
}

function hottest(parts: readonly TargetPart[], scale: number) {
  const counts = Map.groupBy(parts, ({ partition }) => partition)
  const sums = [...counts].flatMap(([partition, of]) =>
    partition === null ? [] : [{ partition, messages: Math.round(sumOf(of, ({ count }) => count) * scale) }],
  )
  return sums.toSorted((a, b) => b.messages - a.messages || a.partition - b.partition)[0] ?? null
}

function sumOf<T>(items: readonly T[], read: (item: T) => number): number {
  return items.reduce((sum, item) => sum + read(item), 0)
}
