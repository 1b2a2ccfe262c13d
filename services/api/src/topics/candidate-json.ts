// How a candidate looks in an answer: a topic that looks like a DLQ topic and that nobody ingests.

import { confidences } from 'dlq-core/domain/discovery/candidate-name.ts'
import { guessOriginalTopic } from 'dlq-core/domain/failure/topic-names.ts'
import type { Candidate } from 'dlq-core/queries/discovery/candidates.ts'
import * as v from 'valibot'
import { shownText } from '../masks/shown.ts'
import type { Sight } from '../masks/sight.ts'
import { count } from '../messages/message-json.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'

const time = v.nullable(timestampText)
const bytes = v.nullable(v.string())

export const candidateSchema = v.pipe(
  v.strictObject({
    confidence: v.pipe(
      v.picklist(confidences),
      v.description(
        'What speaks for it: a record with headers of dead letters (`headers`), its name, or a name that means other things too (`weak`).',
      ),
    ),
    family: v.pipe(v.nullable(v.string()), v.description('Whose headers a record had, such as spring-dlt.')),
    guessed_original: v.pipe(v.nullable(v.string()), v.description('The original topic, if the name says it.')),
    partitions: v.nullable(count),
    records_at_most: v.pipe(
      v.nullable(v.string()),
      v.description('Offsets that Kafka holds: markers of transactions and compaction make it fewer records.'),
    ),
    oldest_at: v.pipe(time, v.description('The timestamp of a first record; its producer may have set any.')),
    newest_at: time,
    retention_ms: bytes,
    retention_bytes: bytes,
    cleanup_policy: v.nullable(v.string()),
    read_by: v.pipe(
      v.array(v.string()),
      v.description('Consumer groups with offsets there, 20 at most: somebody handles these records already.'),
    ),
    found_at: timestampText,
    looked_at: v.pipe(time, v.description('When an ingester last asked Kafka; null before the first time.')),
    dismissed_at: time,
    dismissed_by: v.nullable(v.string()),
    dismissed_reason: v.nullable(v.string()),
  }),
  v.title('Candidate'),
)

export const exampleCandidate = {
  ...{ confidence: 'headers' as const, family: 'spring-dlt', guessed_original: 'payments', partitions: 3 },
  ...{
    records_at_most: '48213',
    oldest_at: '2025-11-02T08:00:00.000+00:00',
    newest_at: '2026-02-20T10:29:00.000+00:00',
  },
  ...{ retention_ms: '604800000', retention_bytes: '-1', cleanup_policy: 'delete', read_by: ['payments-dlt-handler'] },
  ...{ found_at: '2026-02-20T09:00:00.000+00:00', looked_at: '2026-02-20T10:30:00.000+00:00' },
  ...{ dismissed_at: null, dismissed_by: null, dismissed_reason: null },
}

export function candidateJson(found: Candidate, sight: Sight): v.InferOutput<typeof candidateSchema> {
  const { cluster: _, topic, records_at_most, retention_ms, retention_bytes, ...rest } = found
  return {
    ...rest,
    guessed_original: guessOriginalTopic(topic),
    records_at_most: textOrNull(records_at_most),
    retention_ms: textOrNull(retention_ms),
    retention_bytes: textOrNull(retention_bytes),
    oldest_at: timeOrNull(found.oldest_at),
    newest_at: timeOrNull(found.newest_at),
    found_at: timestamp(found.found_at),
    looked_at: timeOrNull(found.looked_at),
    dismissed_at: timeOrNull(found.dismissed_at),
    dismissed_reason: shownText(found.dismissed_reason, sight, 'anywhere'),
  }
}

const textOrNull = (number: bigint | null) => (number === null ? null : String(number))
const timeOrNull = (time: Date | null) => time && timestamp(time)
