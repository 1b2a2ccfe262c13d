// What `replay` and `drop` share: which messages, how many they are, and whether somebody agreed to that number.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components, paths } from 'dlq-client/api-types.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { filterOf, readNumber, withFilters } from '../filters.ts'
import { count, messages } from '../output/words.ts'
import { type CommonOptions, isAnswerLost, type Session } from '../session.ts'
import { groupTitles, matchedText, type Survey, surveyText } from './survey.ts'

export type RunRequest = paths['/api/v1/runs']['post']['requestBody']['content']['application/json']
export type Run = components['schemas']['Run']

export type SelectionOptions = CommonOptions & {
  all?: true
  failedAgainIn?: string
  dryRun?: true
  yes?: true
  expect?: number
  expectTolerance?: string
  reason?: string
}

/** `--yes` alone is no agreement to more than this. */
const yesLimit = 100
/** Messages that arrive meanwhile fail no script; a flood of them does. */
const yesTolerance = '100%'
/** Of what somebody was asked, as in the console: answering takes a while. */
const askedTolerance = '10%'

export function withSelection(command: Command, { isLive = false } = {}): Command {
  return withFilters(command, { isLive })
    .option('--failed-again-in <run>', 'what this run sent and failed again')
    .option('--all', 'messages of all topics: without a filter, or with --status alone')
    .option('--dry-run', 'only say what would happen')
    .option('--yes', `do not ask, for up to ${yesLimit} messages; refused if more than twice as many match by then`)
    .option('--expect <number>', 'do not ask; refused if another number of messages matches', readNumber)
    .option(
      '--expect-tolerance <share>',
      `how many more or fewer may match by then, such as 5%; 0 with --expect, ${askedTolerance} where you were asked`,
    )
    .option('--reason <text>', 'for the audit')
}

/** The selection and its guards, in the API's shape. */
export async function selectionOf(
  session: Session,
  ids: readonly string[],
  options: SelectionOptions,
): Promise<Pick<RunRequest, 'selection' | 'all'>> {
  const filter = await filterOf(options, session)
  const isFilter = options.all === true || Object.keys(filter).length > 0
  const ways = [ids.length > 0, isFilter, options.failedAgainIn !== undefined].filter(Boolean)
  if (ways.length !== 1)
    throw new CliError(exitCodes.usage, 'say which messages: ids, or a filter, or --failed-again-in, or --all')
  if (ids.length > 0) return { selection: { ids: [...ids] } }
  if (options.failedAgainIn !== undefined) return { selection: { failed_again_in: options.failedAgainIn } }
  // As the API has it: these two leave messages of all topics.
  const narrows = Object.keys(filter).some((field) => field !== 'status' && field !== 'archived')
  if (!narrows && !options.all) throw new CliError(exitCodes.usage, 'this means messages of all topics: add --all')
  return { selection: { filter }, ...(options.all && { all: true }) }
}

/**
 * Surveys the selection, asks, and starts the run. Null where nothing was started: a dry run, or nothing to do.
 * @throws {CliError} where nobody agreed, or where messages that were named or expected cannot be taken
 */
export async function startRun(
  session: Session,
  wanted: RunRequest,
  options: SelectionOptions & { verb: string },
): Promise<Run | null> {
  const { api, terminal, json } = session
  // --curl shows the request that matters, which is not the survey before it.
  if (options.curl)
    return postRun(session, { ...wanted, ...(options.dryRun ? { dry_run: true } : expectation(options)) })
  const survey = (await dataOf(api.POST('/api/v1/runs', { body: { ...wanted, dry_run: true } }))) as Survey
  const sends = wanted.kind === 'retry' || wanted.kind === 'redirect'
  const text = surveyText(survey, { titles: await groupTitles(session, survey), sends })
  const isNothing = survey.matched.value === 0 || (survey.complete && survey.eligible === 0)
  if (!options.dryRun) terminal.note(text)
  if (options.dryRun || (isNothing && json)) await session.print(survey, () => text)
  if (options.dryRun) return null
  const byId = 'ids' in wanted.selection
  if (isNothing) {
    if (byId || (options.expect ?? 0) > 0) throw new CliError(exitCodes.failed, nothingText(survey, options))
    terminal.note('nothing to do')
    return null
  }
  return createRun(session, { ...wanted, ...(await agree(session, { survey, byId, options })) })
}

function nothingText({ matched }: Survey, { expect }: SelectionOptions): string {
  const found = expect === undefined ? '' : `${messages(matched.value)} match, not ${count(expect)}; `
  return `${matched.value === expect ? 'none of them can be taken; ' : found}nothing was started`
}

/** Asks again where the answer is lost: the key makes no second run. */
async function createRun(session: Session, body: RunRequest): Promise<Run> {
  const key = randomUUID()
  for (let left = 2; ; left -= 1) {
    try {
      return await postRun(session, body, key)
    } catch (cause) {
      if (!isAnswerLost(cause)) throw cause
      if (left === 0) throw new CliError(exitCodes.unavailable, `${cause.message}; ${lostRun}`, { cause })
      await sleep(1000, undefined, { signal: session.terminal.signal })
    }
  }
}

async function postRun({ api }: Session, body: RunRequest, key?: string): Promise<Run> {
  const params = { header: key === undefined ? {} : { 'idempotency-key': key } }
  return (await dataOf(api.POST('/api/v1/runs', { params, body }))) as Run
}

const lostRun = 'the run may have started all the same: look at `dlq runs` before you start it again'

/** What the API compares once more when it freezes the selection. */
type Guard = Pick<RunRequest, 'expect_count' | 'expect_tolerance'>

function expectation({ expect, expectTolerance: tolerance }: SelectionOptions): Guard {
  return {
    ...(expect !== undefined && { expect_count: expect }),
    ...(tolerance !== undefined && { expect_tolerance: tolerance }),
  }
}

type Asked = { survey: Survey; byId: boolean; options: SelectionOptions & { verb: string } }

/** @throws {CliError} where nobody agreed */
async function agree({ terminal, context }: Session, { survey, byId, options }: Asked): Promise<Guard> {
  if (options.expect !== undefined) return expectation(options)
  const { value, relation } = survey.matched
  // The API compares no number that it has not counted to the end.
  const guard = (tolerance: string): Guard =>
    relation === 'gte' ? {} : { expect_count: value, expect_tolerance: options.expectTolerance ?? tolerance }
  const small = value <= yesLimit
  if (!context.production && small && (options.yes || byId)) return guard(yesTolerance)
  if (!terminal.interactive) {
    const remedy = small && !context.production ? 'add --yes' : `add --expect ${value}`
    throw new CliError(
      exitCodes.usage,
      `nobody can be asked here: ${relation === 'gte' ? 'narrow the filter, until they can be counted' : remedy}`,
    )
  }
  const question = `${options.verb} ${matchedText(survey)}${context.production ? ` in ${context.name}` : ''}?`
  const agreed = context.production
    ? (await terminal.ask(`${question} Type the number ${count(value)}.`)).replaceAll(',', '').trim() === String(value)
    : await terminal.confirm(question)
  if (!agreed) throw new CliError(exitCodes.failed, 'nothing was started')
  return guard(askedTolerance)
}
