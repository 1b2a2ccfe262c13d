// dlq_messages: stores new dead letters. This is the ingester's most frequent statement.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NewMessage } from '../../domain/message/new-message.ts'
import { writtenText } from '../../domain/record/header-json.ts'
import type { Sql } from '../sql.ts'
import { type CopyColumns, type CopyEncoder, type CopyMark, createCopyEncoder } from './copy-format.ts'

const columnTypes: CopyColumns<NewMessage> = {
  id: 'uuid',
  original_topic: 'text',
  error_message: 'text',
  max_retries: 'int4',
  payload: 'jsonb',
  dlq_cluster: 'text',
  dlq_topic: 'text',
  dlq_partition: 'int4',
  dlq_offset: 'int8',
  original_partition: 'int4',
  original_offset: 'int8',
  original_timestamp: 'timestamptz',
  original_topic_source: 'text',
  consumer_group: 'text',
  record_key: 'bytea',
  record_value: 'bytea',
  record_headers: 'json',
  record_timestamp: 'timestamptz',
  record_timestamp_type: 'text',
  record_source: 'text',
  error_class: 'text',
  error_stacktrace: 'text',
  frames_id: 'uuid',
  group_id: 'uuid',
  next_retry_at: 'timestamptz',
  successor_of: 'uuid',
  order_key: 'int8',
  related_to: 'uuid',
  held_by_route: 'bool',
  unstored_value_bytes: 'int8',
  value_schema: 'int4',
  decode_state: 'int4',
  origin_state: 'int4',
  is_scrubbed: 'bool',
}
const columns = Object.keys(columnTypes) as (keyof NewMessage)[]

/** Rows per statement: 500 × 34 parameters stay well under the protocol's 65,535. */
const rowsPerStatement = 500

/** One piece is written to the socket while PostgreSQL stores the previous one. */
const pieceBytes = 160 * 1024

/**
 * Of five rows three are written in a first pass, and two in a second one, behind all of those. A B-tree splits a full page
 * in its middle: what comes in the order of ids, between the ids of other topics, leaves half of each page empty. The second
 * pass fills it: the index by topic has 69 bytes a row, where it had 96.
 */
const rowsOfPasses = 5
const passes = [0, 1] as const
type Pass = (typeof passes)[number]
const passOf = (index: number): Pass => (index % rowsOfPasses < 3 ? 0 : 1)

/** Rows that are encoded for `copyMessages` as they are read, so that nothing else of them has to be kept. */
export type EncodedMessages = {
  add(message: NewMessage): void
  /** The number of rows. */
  readonly count: number
  /** One for each. */
  readonly passes: readonly [CopyEncoder<NewMessage>, CopyEncoder<NewMessage>]
}

/**
 * Memory of encoded rows, used again and again: new buffers were 3 KB a row that only the collector of all garbage gave
 * back. A few are in use at once: two for each batch that is stored.
 */
const memories: Buffer[] = []
const memoryBytes = 512 * 1024
const maxKept = 8
/** Memory that has grown for large values is not kept. */
const maxKeptBytes = 2 * 1024 * 1024

function createEncoder(): CopyEncoder<NewMessage> {
  return createCopyEncoder(columnTypes, memories.pop() ?? Buffer.allocUnsafeSlow(memoryBytes))
}

function keepMemory({ memory }: CopyEncoder<NewMessage>): void {
  if (memory.length <= maxKeptBytes && memories.length < maxKept) memories.push(memory)
}

export function encodeMessages(): EncodedMessages {
  const encoders = [createEncoder(), createEncoder()] as const
  const count = () => encoders[0].count + encoders[1].count
  return {
    add: (message) => encoders[passOf(count())].add(message),
    get count() {
      return count()
    },
    passes: encoders,
  }
}

/** Gives the memory back. Call it only once the rows are stored: after a fault the socket may still read from it. */
export function forgetEncoded(encoded: EncodedMessages): void {
  for (const encoder of encoded.passes) keepMemory(encoder)
}

/** Stores the messages, except those whose ids are stored already. Returns how many are new. */
export async function insertMessages(sql: Sql, messages: readonly NewMessage[]): Promise<number> {
  let inserted = 0
  for (let start = 0; start < messages.length; start += rowsPerStatement) {
    const rows = messages.slice(start, start + rowsPerStatement).map(withHeadersWritten)
    // The id is derived from the record, so a record that is read again meets its own id.
    const result = await sql`
      insert into dlq.dlq_messages ${sql(rows, ...columns)}
      on conflict (id) do nothing`
    inserted += result.count
  }
  return inserted
}

/** As the driver takes it. */
export function withHeadersWritten(message: NewMessage) {
  const { record_headers: headers } = message
  return { ...message, record_headers: headers && writtenText(headers) }
}

/**
 * Stores new messages in the caller's transaction. An id that is stored already, or a row that PostgreSQL cannot
 * hold, makes it fail, and the transaction is lost. COPY takes 60 % of the CPU of `insertMessages`, and its text does
 * not differ with the number of rows.
 *
 * @param encoded rows that are stored before the messages
 * @param beside sends statements of the same transaction, which need not wait for an answer to the COPY; they fail where
 *   it has failed
 * @param table a copy of the table, for measurements
 * @throws where PostgreSQL refused a row. The error does not always name it: the driver loses PostgreSQL's answer to
 *   the end of a COPY, and then throws that the transaction is aborted (25P02).
 */
export async function copyMessages(
  sql: Sql,
  messages: readonly NewMessage[],
  {
    encoded = null,
    beside = async () => {},
    table = 'dlq.dlq_messages',
  }: { encoded?: EncodedMessages | null; beside?: () => Promise<unknown>; table?: string } = {},
): Promise<number> {
  const count = messages.length + (encoded?.count ?? 0)
  if (count === 0) {
    await beside()
    return 0
  }
  const stream = await sql`copy ${sql(table)} (${sql(columns)}) from stdin (format binary)`.writable()
  const refused = new Promise<never>((_, reject) => stream.once('error', reject))
  // The writes below await it. It may also reject between them, and must not count as unhandled then.
  refused.catch(() => {})
  const late = messages.length === 0 ? null : lateMessages(messages)
  try {
    for (const piece of piecesOf(encoded, late))
      await Promise.race([refused, new Promise<void>((resolve) => stream.write(piece, () => resolve()))])
  } catch (error) {
    // A row could not be written: without this the COPY would wait for it for ever.
    stream.destroy(error as Error)
    throw error
  }
  if (late !== null) keepMemory(late.encoder)
  stream.end()
  // The driver accepts the next statement only after the stream has passed on its end. That statement waits for the
  // COPY and fails if the COPY failed. The stream itself does not report that.
  await nextTurn()
  await Promise.race([refused, Promise.all([sql`select 1`, beside()])])
  return count
}

/** `start`: of the memory that each piece is written into. */
type LateMessages = { messages: readonly NewMessage[]; encoder: CopyEncoder<NewMessage>; start: CopyMark }

function lateMessages(messages: readonly NewMessage[]): LateMessages {
  const encoder = createEncoder()
  return { messages, encoder, start: encoder.mark() }
}

/**
 * The bytes of a COPY of all rows. Late messages are encoded when their piece is asked for, each piece into the same memory:
 * ask for the next one only when the last one is written.
 */
function* piecesOf(encoded: EncodedMessages | null, late: LateMessages | null): Generator<Buffer> {
  let isFirst = true
  for (const pass of passes) {
    if (encoded !== null) {
      const isLast = late === null && pass === passes.at(-1)
      const written = encoded.passes[pass].bytes({ isFirst, isLast })
      for (let at = 0; at < written.length; at += pieceBytes) yield written.subarray(at, at + pieceBytes)
      isFirst = false
    }
    if (late === null) continue
    const { messages, encoder, start } = late
    for (const [index, message] of messages.entries()) {
      if (passOf(index) !== pass) continue
      encoder.add(message)
      if (encoder.size < pieceBytes) continue
      yield encoder.bytes({ isFirst, isLast: false })
      isFirst = false
      encoder.back(start)
    }
  }
  if (late !== null) yield late.encoder.bytes({ isFirst, isLast: true })
}

/** Creates the partition of this id, for a record of a month that was dropped, or skipped while no upkeep ran. */
export async function ensureMessagePartition(sql: Sql, id: string): Promise<void> {
  await sql`select dlq.ensure_message_partition(${id})`
}

/** Creates the partitions of this month and the next three. Returns how many were missing. */
export async function createMessagePartitions(sql: Sql): Promise<number> {
  const [row] = await sql<{ made: number }[]>`select dlq.create_message_partitions() as made`
  return row!.made
}

/**
 * Those of the messages that are stored, in the archive too. Live ones are locked until the transaction ends, so that nobody
 * archives one meanwhile.
 */
export async function lockStored(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const wanted = sql.array([...ids].sort())
  const live = await sql<{ id: string }[]>`
    select m.id from unnest(${wanted}::uuid[]) as wanted (id)
    cross join lateral (select id from dlq.dlq_messages where id = wanted.id for key share) m`
  // Then: what was archived while the lock was waited for is in the archive now.
  const archived = await sql<{ id: string }[]>`
    select id from dlq.dlq_messages_archive where id = any(${wanted}::uuid[])`
  return new Set([...live, ...archived].map(({ id }) => id))
}
