// `dlq edit`: the value in an editor. It is sent with the ETag that was read, so nobody's change is overwritten.
import type { Command } from 'commander'
import { createTwoFilesPatch } from 'diff'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import { defineCommand, onCall, withOutput } from '../define-command.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { count, plain, plainLines } from '../output/words.ts'
import type { CommonOptions, Session } from '../session.ts'
import { openInEditor, storeEdited, textOf } from './editor.ts'
import { bytesOf } from './show.ts'

type Options = CommonOptions & { reason?: string; retry?: true; force?: true; yes?: true }

/** Lines that are gone and lines that are new, together: a thousand take 0.3 s, and ten times as many half a minute. */
const maxEditLength = 1000

export function addEdit(program: Command): void {
  const edit = withOutput(
    defineCommand(program, 'edit <id>', {
      summary: 'change the value in $EDITOR',
      description:
        'What it replaces is kept. If somebody has changed or sent the message meanwhile, nothing is changed.',
      examples: [`EDITOR="sed -i s/-5/5/" dlq edit "$ID" --reason OPS-4711 --yes --retry`],
    }),
  )
    .option('--reason <text>', 'for the audit')
    .option('--retry', 'retry it afterwards')
    .option('--force', 'retry it even where it may not be retried by itself; needs --reason')
    .option('--yes', 'do not ask')
  onCall<Options>(edit, async (session, [id], options) => {
    const { api, terminal } = session
    if (options.force && !options.retry) throw new CliError(exitCodes.usage, '--force needs --retry')
    if (options.force && options.reason === undefined) throw new CliError(exitCodes.usage, 'say why: --reason')
    const path = { id: id! }
    const read = await api.GET('/api/v1/dlq/messages/{id}', { params: { path } })
    if (!read.data) throw new DlqApiError(read.response.status, read.error)
    const etag = read.response.headers.get('etag')
    const stored = await bytesOf(session, id!, 'value')
    if (stored === null) terminal.note('the record has no value: it is null. What is typed gives it one')
    // An editor would damage bytes that are no text.
    const before = stored === null ? '' : textOf(stored, 'the value is not text; see `dlq show --value`')
    const edited = openInEditor(before, terminal.env)
    if (edited.text === before) {
      edited.discard()
      terminal.note('nothing was changed')
      return
    }
    const { reason } = options
    const changed = await storeEdited(edited, { terminal, command: `dlq edit ${id}` }, async () => {
      checkJson(before, edited.text)
      terminal.note(plainLines(diffText(before, edited.text)))
      await approveEdit(session, options)
      return dataOf(
        api.PATCH('/api/v1/dlq/messages/{id}', {
          params: { path, ...(etag !== null && { header: { 'if-match': etag } }) },
          body: { value: { text: edited.text }, ...(reason !== undefined && { reason }) },
        }),
      )
    })
    if (!options.retry) return session.print(changed, ({ id, status }) => `${id} is changed, ${status}`)
    const body = {
      ...((options.force || changed.status === 'DEAD') && { force: true }),
      reason: reason ?? 'dlq edit --retry',
    }
    // Whatever becomes of the retry.
    terminal.note('it is changed')
    const sent = await dataOf(api.POST('/api/v1/dlq/messages/{id}/retry', { params: { path }, body }))
    await session.print(sent, ({ message }) => plain(message))
    if (sent.status === 'RESOLVED' || sent.status === 'RETRYING' || sent.status === 'PENDING') return
    return exitCodes.failed
  })
}

async function approveEdit({ terminal }: Session, { yes }: Options): Promise<void> {
  if (yes) return
  if (!terminal.interactive) throw new CliError(exitCodes.usage, 'nobody can be asked here: add --yes')
  if (!(await terminal.confirm('Change it?'))) throw new CliError(exitCodes.failed, 'nothing was changed')
}

/** Most values are one line, and a patch would show all of a line that changed. */
const maxLineLength = 200
/** Of the characters before and after what changed. */
const shownAround = 40
const maxChangeLength = 2000

/** Some editors lay out the whole document anew. To compare all of its lines could take an hour. */
function diffText(before: string, after: string): string {
  const isLong = (text: string) => text.split('\n').some((line) => line.length > maxLineLength)
  if (isLong(before) || isLong(after)) return changedPart(before, after)
  const patch = createTwoFilesPatch('stored', 'edited', before, after, undefined, undefined, { maxEditLength })
  return patch ?? `more than ${count(maxEditLength)} lines differ: too many to show`
}

/** From the first character that differs to the last one, with a little of what stays. */
function changedPart(before: string, after: string): string {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const from = Math.max(0, start - shownAround)
  const part = (text: string) => {
    const to = Math.min(text.length, text.length - end + shownAround)
    const shown = text.slice(from, Math.min(to, from + maxChangeLength))
    return `${from > 0 ? '…' : ''}${shown}${from + shown.length < text.length ? '…' : ''}`
  }
  return `what changed, from character ${count(start + 1)} on:\n- ${part(before)}\n+ ${part(after)}`
}

function checkJson(before: string, after: string): void {
  const fault = jsonFault(before) === null ? jsonFault(after) : null
  if (fault !== null)
    throw new CliError(exitCodes.failed, `the value was JSON and is none now; nothing was changed. ${fault}`)
}

function jsonFault(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
