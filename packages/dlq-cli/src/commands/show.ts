// `dlq show`: all of one message, or exactly its bytes.
import type { Command } from 'commander'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { exactJson } from 'dlq-client/json/exact-json.ts'
import { defineCommand, onCall, withOutput } from '../define-command.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { cut } from '../output/table.ts'
import { ago, counted, plain, plainLines } from '../output/words.ts'
import { type CommonOptions, requireFile, type Session } from '../session.ts'

type Detail = components['schemas']['MessageDetail']

export function addShow(program: Command): void {
  const show = withOutput(
    defineCommand(program, 'show <id>', {
      summary: 'one message: error, headers, attempts, and why it is not retried',
      examples: ['dlq show "$ID"', 'dlq show "$ID" --json', 'dlq show "$ID" --value > value.bin'],
    }),
  )
    .option('--value', "the value's bytes, exactly, and nothing else; on a terminal, what would steer it is escaped")
    .option('--key', "the key's bytes")
  onCall<CommonOptions & { value?: true; key?: true }>(show, async (session, [id], { value, key }) => {
    const params = { path: { id: id! } }
    if (value && key)
      throw new CliError(exitCodes.usage, '--value and --key exclude each other: each writes bytes and nothing else')
    if (value || key) return writeBytes(session, id!, value ? 'value' : 'key')
    await session.print(await dataOf(session.api.GET('/api/v1/dlq/messages/{id}', { params })), (data) =>
      detailText(data, session.width),
    )
  })
}

async function writeBytes(session: Session, id: string, part: 'key' | 'value'): Promise<void> {
  const bytes = await bytesOf(session, id, part)
  const { terminal } = session
  if (bytes === null) return terminal.note(`the record has no ${part}: it is null`)
  // Bytes of strangers may steer no terminal. A file and a pipe get them as they are.
  await terminal.write(terminal.columns === null ? bytes : plainLines(new TextDecoder().decode(bytes)))
}

/** What Kafka held: JSON numbers may be longer than a JavaScript number. Null as in a tombstone; an empty value has no bytes. */
export async function bytesOf(session: Session, id: string, part: 'key' | 'value'): Promise<Uint8Array | null> {
  const { data, error, response } = await session.api.GET(`/api/v1/dlq/messages/{id}/${part}`, {
    params: { path: { id } },
    parseAs: 'arrayBuffer',
  })
  if (!response.ok) throw new DlqApiError(response.status, error)
  if (response.status === 204) return null
  await requireFile(session, response)
  // Where an answer has no bytes, the client gives no data.
  return new Uint8Array(data ?? new ArrayBuffer(0))
}

function detailText(message: Detail, width: number | null): string {
  const now = Date.now()
  const { original, dlq } = message
  const lines = [
    `${message.status} ${message.id}`,
    `  error       ${plain(message.error_class ?? 'error')}: ${plain(message.error_message)}`,
    `  original    ${place(original.topic, original.partition, original.offset)}${original.topic_source === 'guessed' ? ' (guessed)' : ''}`,
    `  dlq         ${dlq ? place(dlq.topic, dlq.partition, dlq.offset) : 'reported by an application'}`,
    `  group       ${plain(message.consumer_group)}`,
    `  failed      ${failedText(message, now)}`,
    `  attempts    ${message.retry_count} of ${message.max_retries}`,
    `  next        ${message.next_retry_at ? ago(message.next_retry_at, now) : 'only when somebody asks'}`,
    ...(message.not_retryable_because ? [`  not retried ${plain(message.not_retryable_because)}`] : []),
    ...(message.held_up_by.length > 0 ? [`  held up by  ${message.held_up_by.map(plain).join('; ')}`] : []),
    // An API from before newer dead letters were looked for says nothing of them.
    ...(message.staleness?.advice ? [`  newer       ${plain(message.staleness.advice)}`] : []),
    ...(message.group_id ? [`  error group ${message.group_id}`] : []),
    `  key         ${message.key ? plain(message.key.value) : '–'}`,
    `  value       ${message.value_bytes === null ? 'none' : `${message.value_bytes} bytes`}`,
    // An API from before Avro was read says nothing of it.
    ...(message.decoding ? [`  decoded     ${plain(decodedText(message.decoding))}`] : []),
  ]
  for (const header of message.headers ?? []) lines.push(headerText(header, width))
  for (const attempt of message.attempts)
    lines.push(`  attempt ${String(attempt.number).padEnd(3)} ${attemptText(attempt)}`)
  if (message.payload !== null) lines.push('', plainLines(exactJson.stringify(message.payload, 2)))
  if (message.error_stacktrace) lines.push('', plainLines(message.error_stacktrace.trimEnd()))
  return lines.join('\n')
}

/** So much of a header's value says enough, also where a narrow terminal breaks its line. */
const minHeaderWidth = 40

/** A header may hold the stack trace that stands below. */
function headerText({ name, value, encoding }: NonNullable<Detail['headers']>[number], width: number | null): string {
  const [before, after] = [`  header      ${plain(name)}: `, encoding === 'text' ? '' : ` (${encoding})`]
  const room = width === null ? null : Math.max(minHeaderWidth, width - before.length - after.length)
  return `${before}${room === null ? plain(value) : cut(plain(value), room)}${after}`
}

function failedText({ failure_count, first_failed_at: first, last_failed_at: last }: Detail, now: number): string {
  const when = first === last ? ago(last, now) : `${ago(first, now)} to ${ago(last, now)}`
  return `${counted(failure_count, 'time')}, ${when}`
}

function decodedText({ state, format, schema, compression, problem }: NonNullable<Detail['decoding']>): string {
  const of = schema === null ? [] : [schema.name ?? '', `${schema.registry} ${schema.id_kind} ${schema.id}`]
  const what = [state === 'decoded' ? 'from' : state, format ?? 'json', ...of, compression ?? '']
    .filter(Boolean)
    .join(' ')
  return problem === null ? what : `${what}: ${problem}`
}

function attemptText({ outcome, actor, target, started_at, error, failed_again }: Detail['attempts'][number]): string {
  const to = target ? ` to ${place(target.topic, target.partition, target.offset)}` : ''
  const back = failed_again ? `; came back ${failed_again.at}: ${plain(failed_again.error_message)}` : ''
  return `${outcome}${to} by ${plain(actor)}, ${started_at}${error ? `: ${plain(error)}` : ''}${back}`
}

function place(topic: string, partition: number | null, offset: string | null): string {
  return [plain(topic), ...(partition === null ? [] : [partition]), ...(offset === null ? [] : [offset])].join('/')
}
