// `dlq runs`: what runs do, and stopping them.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { defineCommand, onCall, withOutput, withWatch } from '../define-command.ts'
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts'
import { readDuration, readLimit } from '../filters.ts'
import { outlasting } from '../outlast.ts'
import { ago, count, plain } from '../output/words.ts'
import { readPages } from '../read-pages.ts'
import type { CommonOptions, Session } from '../session.ts'

type Run = components['schemas']['Run']

const pollMs = 500
const outcomes = ['waiting', 'resolved', 'failed', 'failed_again', 'skipped'] as const

export function addRuns(program: Command): void {
  const runs = withWatch(
    withOutput(
      defineCommand(program, 'runs', { summary: 'runs, the newest first', examples: ['dlq runs', 'dlq runs --json'] }),
    ),
  ).option('--limit <number>', 'how many', readLimit, 20)
  onCall<CommonOptions & { limit: number }>(runs, (session, _, { limit }) =>
    session.watched(async () => {
      const { items, last } = await readPages(limit, {
        atOnce: 1000,
        ask: ({ limit: page_size, ...cursor }) =>
          dataOf(session.api.GET('/api/v1/runs', { params: { query: { page_size, ...cursor } } })),
        itemsOf: ({ runs }) => runs,
        nextOf: ({ next_cursor }) => next_cursor,
      })
      await session.print({ ...last, runs: items }, ({ runs }) => runTable(runs, session))
      session.noteMore(last.next_cursor)
    }),
  )

  const show = withOutput(defineCommand(runs, 'show <id>', { summary: 'one run', examples: ['dlq runs show "$RUN"'] }))
  onCall<CommonOptions>(show, async (session, [id]) => session.print(await getRun(session, id!), runText))

  const watch = withOutput(
    defineCommand(runs, 'watch <id>', {
      summary: 'until it has ended or is paused; Ctrl-C leaves it going',
      examples: ['dlq runs watch "$RUN"'],
    }),
  ).option('--timeout <time>', 'how long', '1h')
  onCall<CommonOptions & { timeout: string }>(watch, async (session, [id], { timeout }) => {
    const run = await followRun(session, id!, Date.now() + readDuration('--timeout', timeout))
    await session.print(run, runText)
    return outcomeOf(run)
  })

  for (const change of ['pause', 'resume', 'cancel'] as const) {
    const command = withOutput(
      defineCommand(runs, `${change} <id>`, { summary: summaries[change], examples: [`dlq runs ${change} "$RUN"`] }),
    )
    onCall<CommonOptions>(command, async (session, [id]) => {
      const params = { path: { id: id! } }
      await session.print(await dataOf(session.api.POST(`/api/v1/runs/{id}/${change}`, { params })), runText)
    })
  }

  const items = withOutput(
    defineCommand(runs, 'items <id>', {
      summary: 'its messages',
      examples: ['dlq runs items "$RUN" --outcome failed_again'],
    }),
  )
    .addOption(new Option('--outcome <outcome>', 'only these').choices(outcomes))
    .option('--limit <number>', 'how many', readLimit, 100)
  onCall<CommonOptions & { outcome?: (typeof outcomes)[number]; limit: number }>(
    items,
    async (session, [id], { outcome, limit }) => {
      const path = { id: id! }
      const { items, first, last } = await readPages(limit, {
        atOnce: 1000,
        ask({ limit, cursor: after }) {
          const query = { limit, ...(after && { after }), ...(outcome !== undefined && { outcome }) }
          return dataOf(session.api.GET('/api/v1/runs/{id}/items', { params: { path, query } }))
        },
        itemsOf: ({ items }) => items,
        nextOf: ({ next_after }) => next_after,
      })
      await session.print({ ...last, items, previous_before: first.previous_before }, ({ items }) =>
        session.table(
          items,
          [
            { title: 'ID', value: ({ id }) => id, whole: true },
            { title: 'OUTCOME', value: ({ outcome }) => outcome },
            { title: 'DETAIL', value: ({ detail }) => detail, rank: 1 },
          ],
          'no such messages',
        ),
      )
      session.noteMore(last.next_after)
    },
  )
}

const summaries = {
  pause: 'claim nothing more for now',
  resume: 'go on',
  cancel: 'stop; what was not sent is given back unchanged',
}

const getRun = ({ api }: Session, id: string) => dataOf(api.GET('/api/v1/runs/{id}', { params: { path: { id } } }))

/** Reads a run again and again. Once it was read, an API that is away for a moment ends nothing: the run goes on. */
const runReader = (session: Session, id: string) => outlasting(() => getRun(session, id), session.terminal)

/** Resolves when the run has ended or is paused. @throws {CliError} 75 after the deadline, in ms since 1970; the run goes on */
export async function followRun(session: Session, id: string, deadline: number): Promise<Run> {
  let told = ''
  const read = runReader(session, id)
  for (;;) {
    const run = await read()
    if (!['queued', 'running', 'cancelling'].includes(run.status)) return run
    if (Date.now() > deadline)
      throw new CliError(
        exitCodes.timeout,
        `run ${id} has not ended: ${progressText(run)}. It goes on; dlq runs watch ${id}`,
      )
    const now = progressText(run)
    if (now !== told && session.terminal.interactive) session.terminal.note(now)
    told = now
    await sleep(pollMs, undefined, { signal: session.terminal.signal })
  }
}

/** Whether the run sends messages. */
export function sends({ kind, status }: Run): boolean {
  return (kind === 'retry' || kind === 'redirect') && status !== 'paused'
}

/**
 * Resolves when it is known of each message that an ended run has sent whether its consumer groups read it and it stayed
 * away. @throws {CliError} 75 after the deadline
 */
export async function followVerdicts(session: Session, { id }: Run, deadline: number): Promise<Run> {
  let told = ''
  const read = runReader(session, id)
  for (;;) {
    const run = await read()
    const { verdicts } = run.progress
    const isCounted = verdicts !== null && Date.parse(verdicts.counted_at) >= Date.parse(run.ended_at ?? '')
    if (isCounted && verdicts.sent + verdicts.passed + verdicts.unknown === 0) return run
    const now = verdictsText(run)
    if (Date.now() > deadline)
      throw new CliError(exitCodes.timeout, `it is not known whether all were read: ${now}. dlq runs show ${id}`)
    if (now !== told && session.terminal.interactive) session.terminal.note(now)
    told = now
    await sleep(pollMs, undefined, { signal: session.terminal.signal })
  }
}

/** `consumed`: what was not read counts as failed, too. */
export function outcomeOf({ status, progress }: Run, consumed = false): ExitCode {
  if (status === 'paused') return exitCodes.paused
  if (progress.failed_again > 0 || (consumed && (progress.verdicts?.came_back ?? 0) > 0)) return exitCodes.cameBack
  const unread = consumed && progress.verdicts !== null ? progress.verdicts.skipped + progress.verdicts.expired : 0
  return status === 'completed' && progress.failed + unread === 0 ? exitCodes.done : exitCodes.failed
}

function verdictsText({ progress: { verdicts } }: Run): string {
  if (verdicts === null) return 'nobody has looked yet'
  const { sent, passed, consumed, came_back, skipped, expired, unknown } = verdicts
  const said = [
    [sent, 'not read'],
    [passed, 'read a moment ago'],
    [consumed, 'read and stayed away'],
    [came_back, 'came back'],
    [skipped, 'skipped'],
    [expired, 'expired unread'],
    [unknown, 'not known'],
  ] as const
  return said.flatMap(([number, words]) => (number > 0 ? [`${count(number)} ${words}`] : [])).join(', ')
}

/** How many messages it did its work to; what it sent counts also where it came back. */
function acted({ done, resolved, failed_again: back }: Run['progress']): number {
  return done + resolved + back
}

function progressText({ status, progress }: Run): string {
  const left = progress.eta_seconds === null ? '' : `, about ${Math.ceil(progress.eta_seconds)} s left`
  return `${status}: ${count(acted(progress))} done, ${count(progress.waiting)} waiting${left}`
}

export function runText(run: Run): string {
  const { progress, matched } = run
  const skipped = Object.entries(progress.skipped).map(([why, number]) => `${count(number)} ${plain(why)}`)
  return [
    `${run.kind} ${run.id}`,
    `  ${run.status}${run.status_reason ? `: ${plain(run.status_reason)}` : ''}`,
    `  by ${plain(run.actor)}, ${run.created_at}${run.reason ? `: ${plain(run.reason)}` : ''}`,
    `  ${matchedText(matched)} matched, ${count(progress.waiting)} waiting`,
    `  ${count(acted(progress))} ${run.kind === 'retry' || run.kind === 'redirect' ? 'sent' : 'done'}, ${count(progress.failed)} failed, ${count(progress.failed_again)} failed again`,
    ...(skipped.length > 0 ? [`  left alone: ${skipped.join(', ')}`] : []),
    ...(progress.verdicts === null ? [] : [`  after that: ${verdictsText(run) || 'nothing'}`]),
  ].join('\n')
}

/** "at least 1,000,000" where counting ended early. */
function matchedText({ relation, value }: Run['matched']): string {
  return `${relation === 'gte' ? 'at least ' : ''}${count(value)}`
}

function runTable(runs: readonly Run[], { table }: Session): string {
  const now = Date.now()
  return table(
    runs,
    [
      { title: 'RUN', value: ({ id }) => id, whole: true },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'STATUS', value: ({ status }) => status },
      { title: 'MATCHED', value: ({ matched }) => matchedText(matched), right: true },
      { title: 'DONE', value: ({ progress }) => count(acted(progress)), right: true },
      { title: 'FAILED AGAIN', value: ({ progress }) => count(progress.failed_again), right: true, rank: 2 },
      { title: 'STARTED', value: ({ created_at }) => ago(created_at, now), right: true, rank: 1 },
      { title: 'BY', value: ({ actor }) => actor, rank: 3 },
      { title: 'REASON', value: ({ reason, status_reason }) => status_reason ?? reason, rank: 4 },
    ],
    'no runs',
  )
}
