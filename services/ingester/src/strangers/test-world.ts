// Three teams on one database, and a retrier that has no Kafka: what it would publish is written down. Triggers tell
// when a team's records change a row that is not the team's.

import { replayHazard } from 'dlq-core/domain/failure/topic-names.ts'
import { deriveAttemptId, deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import type { DeadLetterRecord, Header } from 'dlq-core/domain/record/record.ts'
import { settleAttempts } from 'dlq-core/queries/retry/attempts.ts'
import { type ClaimedMessage, claimBatch, settleMessages } from 'dlq-core/queries/retry/batches.ts'
import { listDueTopics } from 'dlq-core/queries/retry/due-topics.ts'
import { type Slot, takeSlot } from 'dlq-core/queries/retry/slots.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { TestDatabase } from 'dlq-testing/postgres/test-database.ts'
import { storeBatch } from '../store/store-batch.ts'
import { batchOf, storeDeps } from '../store/test-batch.ts'
import { families, type HostileRecord, type NumberForm, type Team } from './test-hostile-records.ts'

/** A record that the retrier has sent. */
type Published = {
  id: string
  team: Team
  number: number
  topic: string
  partition: number
  offset: bigint
  consumerGroup: string | null
}

const dlqPatterns = ['*.dlq.v1']

export async function createWorld(sql: Database, admin: TestDatabase['sql']) {
  await createWatch(admin)
  const deps = storeDeps(sql, { settings: { ...storeDeps(sql).settings, dlqPatterns } })
  const slot: Slot = await takeSlot(sql, { owner: 'retrier', leaseMs: 24 * 3_600_000 })
  const offsets = new Map<Team, bigint>()
  const ids: string[] = []
  const published: Published[] = []
  const counts = { stored: 0, reopened: 0, published: 0, refused: 0 }
  let nextOffset = 0n
  let inFlight: { batch: bigint; messages: ClaimedMessage[] } | null = null

  const actAs = (team: Team | null) => admin`update watch.team set name = ${team}`

  /** The team writes the records to its DLQ topic, and the ingester stores them. */
  async function store(team: Team, hostile: readonly HostileRecord[]): Promise<void> {
    const from = offsets.get(team) ?? 0n
    const place = { cluster: 'c', topic: `${team}.dlq.v1`, partition: 0 }
    const records = hostile.map((record, at) => ({ ...place, offset: from + BigInt(at), ...bytesOf(team, record) }))
    offsets.set(team, from + BigInt(records.length))
    await actAs(team)
    const outcome = await storeBatch(deps, { ...batchOf(records), ...place })
    if (outcome.kind !== 'stored') throw new Error(outcome.kind)
    counts.stored += outcome.stored
    counts.reopened += outcome.reopened
    ids.push(...records.map((record) => deriveMessageId(record)))
  }

  function bytesOf(
    team: Team,
    record: HostileRecord,
  ): Pick<DeadLetterRecord, 'timestamp' | 'key' | 'value' | 'headers'> {
    const known = record.fails === 'own' ? published.filter((one) => one.team === team) : published
    const failed = record.fails === null ? undefined : known[(record.claim?.message ?? 0) % Math.max(1, known.length)]
    const { timestamp, keyBytes, valueBytes } = record
    return {
      ...{ timestamp, key: filled(keyBytes), value: record.logEntry ? logEntry(record) : filled(valueBytes) },
      headers: failed ? exactHeaders(failed) : hostileHeaders(record),
    }
  }

  function hostileHeaders(record: HostileRecord): Header[] {
    const at = record.place === null ? undefined : published[record.place % Math.max(1, published.length)]
    const claimed = { ...record, ...(at && { topic: at.topic, partition: at.partition, offset: at.offset }) }
    const headers = record.families.flatMap((family) =>
      families[family]!.names.map((name): Header => [name, valueFor(name, claimed)]),
    )
    const id = record.claim === null ? undefined : ids[record.claim.message % Math.max(1, ids.length)]
    if (record.claim === null || id === undefined) return headers
    const last = published.findLast((one) => one.id === id)?.number ?? 1
    const attempt = record.claim.attempt === 'last' ? last : record.claim.attempt
    const attemptIds = {
      absent: null,
      right: deriveAttemptId(id, attempt),
      other: deriveAttemptId(id, attempt + 1),
      junk: 'x',
    }
    const attemptId = attemptIds[record.claim.attemptId]
    return [
      ...headers,
      ['dlq-message-id', Buffer.from(id)],
      ['dlq-attempt', Buffer.from(String(attempt))],
      ...(attemptId === null ? [] : [['dlq-attempt-id', Buffer.from(attemptId)] satisfies Header]),
    ]
  }

  /** Claims all that is due, and sends it when the next call comes: until then it is under way. */
  async function retry(): Promise<void> {
    await actAs(null)
    if (inFlight !== null) await settle(inFlight)
    await admin`update dlq.dlq_messages set next_retry_at = now() where status = 'PENDING' and next_retry_at is not null`
    const topics = await listDueTopics(sql)
    const shares = topics.map(({ original_topic: topic }) => ({
      ...{ topic, quota: 500, maxInFlight: null, ordered: false, pausedGroups: [] },
    }))
    const token = deriveAttemptId('00000000-0000-7000-8000-000000000000', ++tokens)
    inFlight = await claimBatch(sql, { ...slot, token, shares, maxBytes: 2 ** 30 })
  }
  let tokens = 0

  async function settle({ batch, messages }: NonNullable<typeof inFlight>): Promise<void> {
    const sent = messages.map((message) => ({ message, topic: message.target_topic ?? message.original_topic }))
    const isRefused = (topic: string) =>
      ['internal', 'unknown', 'dlq-topic'].includes(
        replayHazard(topic, { source: 'caller', dlqPatterns, partition: null }) ?? '',
      )
    const attempts = sent.map(
      ({ message: { id, retry_count: number, dlq_topic, consumer_group: consumerGroup }, topic }) => {
        const isPublished = !isRefused(topic)
        const place = isPublished ? { target_partition: 0, target_offset: nextOffset++ } : noPlace
        if (isPublished) {
          counts.published += 1
          const team = dlq_topic!.slice(0, dlq_topic!.indexOf('.')) as Team
          published.push({ id, team, number, topic, partition: 0, offset: place.target_offset!, consumerGroup })
        } else counts.refused += 1
        const outcome = isPublished ? ('published' as const) : ('failed' as const)
        const error = isPublished ? null : 'refused'
        return {
          message_id: id,
          number,
          attempt_id: deriveAttemptId(id, number),
          outcome,
          target_topic: topic,
          error,
          ...place,
        }
      },
    )
    await settleMessages(sql, {
      ...{ ...slot, batch },
      messages: attempts.map(({ message_id: id, outcome }) => ({
        ...{ id, status: outcome === 'published' ? ('RESOLVED' as const) : ('PENDING' as const) },
        ...{ next_retry_at: null, run_id: null },
      })),
    })
    await settleAttempts(sql, { attempts })
  }

  return {
    ...{ store, retry, counts, ids, published },
    /** Moves every seventh resolved message into the archive. */
    async archive() {
      await actAs(null)
      await admin`
        select dlq.archive_messages(array(
          select id from (select id, row_number() over (order by id) as n from dlq.dlq_messages where status = 'RESOLVED') done
          where n % 7 = 0))`
    },
    /** Rows that a team changed although they are another's, since the last call. */
    async trespasses(): Promise<string[]> {
      const rows = await admin<{ told: string }[]>`delete from watch.trespasses returning told`
      return rows.map(({ told }) => told)
    },
    actAs,
  }
}

const noPlace = { target_partition: null, target_offset: null }

function filled(bytes: number | null): Buffer | null {
  return bytes === null ? null : Buffer.alloc(bytes, '{"a":1}')
}

/** As the consumer that failed on the record would write them. */
function exactHeaders({ id, number, topic, partition, offset, consumerGroup }: Published): Header[] {
  const headers = {
    'dlq-message-id': id,
    'dlq-attempt': String(number),
    'dlq-attempt-id': deriveAttemptId(id, number),
    'dlq-original-topic': topic,
    'dlq-original-partition': String(partition),
    'dlq-original-offset': String(offset),
    'dlq-error-message': 'failed again',
    ...(consumerGroup !== null && { 'dlq-consumer-group': consumerGroup }),
  }
  return Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)])
}

/** What the header of this name may hold, by its name. */
function valueFor(name: string, record: HostileRecord): Buffer | null {
  if (/partition/i.test(name)) return numberBytes(BigInt(record.partition), record.form)
  if (/offset/i.test(name)) return numberBytes(record.offset, record.form)
  if (/timestamp|attempt|count|delivery/i.test(name)) return numberBytes(record.timestamp, record.form)
  const text = /topic/i.test(name) ? record.topic : /group|connector/i.test(name) ? record.group : record.errorText
  return text === null ? null : Buffer.from(text)
}

function numberBytes(value: bigint, form: NumberForm): Buffer {
  if (form === 'text') return Buffer.from(String(value))
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return form === 'int64' ? bytes : bytes.subarray(4)
}

/** A line of ksqlDB's processing log, which names a topic in its value. */
function logEntry({ topic, errorText: errorMessage }: HostileRecord): Buffer {
  const deserializationError = { target: 'value', errorMessage, recordB64: null, cause: [], topic: topic ?? '' }
  return Buffer.from(
    JSON.stringify({ level: 'ERROR', logger: 'processing.x', time: 1, message: { type: 0, deserializationError } }),
  )
}

/**
 * Triggers that compare the owner of each row that changes with the team whose records are being stored. A message
 * belongs to the team of its DLQ topic; one that was reported, to that of its original topic.
 */
async function createWatch(admin: TestDatabase['sql']): Promise<void> {
  await admin.unsafe(`
    create schema watch;
    create table watch.team (name text);
    insert into watch.team values (null);
    create table watch.trespasses (told text not null);
    create function watch.message_of(p_id uuid) returns text language sql stable as $$
      select coalesce(
        (select split_part(coalesce(dlq_topic, original_topic), '.', 1) from dlq.dlq_messages where id = p_id),
        (select split_part(coalesce(dlq_topic, original_topic), '.', 1) from dlq.dlq_messages_archive where id = p_id))
    $$;
    create function watch.look() returns trigger language plpgsql security definer as $$
    declare
      changed jsonb := to_jsonb(case tg_op when 'DELETE' then old else new end);
      was jsonb := case tg_op when 'UPDATE' then to_jsonb(old) end;
      team text := (select name from watch.team);
      owner text;
    begin
      if team is null then return null; end if;
      -- The ingester notes now and then which groups it has seen, those of all teams at once.
      if was - 'last_seen_at' = changed - 'last_seen_at' then return null; end if;
      owner := case
        when tg_table_name like 'dlq_attempts%' then watch.message_of((changed ->> 'message_id')::uuid)
        when tg_table_name = 'dlq_siblings' then watch.message_of((changed ->> 'root_id')::uuid)
        when tg_table_name = 'dlq_positions' then split_part(changed ->> 'topic', '.', 1)
        -- Same id, same texts: only a change of what is there matters.
        when tg_table_name = 'dlq_groups' then
          case when was is null or (was - 'last_seen_at' - 'purged_at' - 'forgotten_at' - 'archived_at')
                                 = (changed - 'last_seen_at' - 'purged_at' - 'forgotten_at' - 'archived_at')
               then team end
        else split_part(coalesce(changed ->> 'dlq_topic', changed ->> 'original_topic'), '.', 1)
      end;
      if owner is distinct from team
        or (was ->> 'dlq_topic') is distinct from (changed ->> 'dlq_topic') and was is not null then
        insert into watch.trespasses values (
          format('%s: %s of %s, which belongs to %s: %s', team, tg_op, tg_table_name, owner, changed));
      end if;
      return null;
    end $$;`)
  const tables = ['messages', 'messages_archive', 'attempts', 'attempts_archive', 'siblings', 'routes', 'positions']
  for (const table of [...tables, 'group_topics', 'groups'])
    await admin.unsafe(`
      create trigger watch after insert or update or delete on dlq.dlq_${table}
      for each row execute function watch.look()`)
}
