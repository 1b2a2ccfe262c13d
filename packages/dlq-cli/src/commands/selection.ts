// What `replay` and `drop` share: which messages, how many they are, and whether somebody agreed to that number.
import type { Command } from 'commander'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components, paths } from 'dlq-client/api-types.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { filterOf, readNumber, withFilters } from '../filters.ts'
import { count, messages, plain } from '../output/words.ts'
import type { CommonOptions, Session } from '../session.ts'

export type RunRequest = paths['/api/v1/runs']['post']['requestBody']['content']['application/json']
export type Survey = components['schemas']['RunSurvey']
export type Run = components['schemas']['Run']

export type SelectionOptions = CommonOptions & {
  all?: true
  failedAgainIn?: string
  dryRun?: true
  yes?: true
  expect?: number
  reason?: string
}

/** `--yes` alone is no agreement to more than this. */
const yesLimit = 100

export function withSelection(command: Command): Command {
  return withFilters(command)
    .option('--failed-again-in <run>', 'what this run sent and failed again')
    .option('--all', 'no filter: all messages that may be')
    .option('--dry-run', 'only say what would happen')
    .option('--yes', `do not ask, for up to ${yesLimit} messages`)
    .option('--expect <number>', 'do not ask, if there are this many', readNumber)
    .option('--reason <text>', 'for the audit')
}

/** The selection and its guards, in the API's shape. */
export function selectionOf(ids: readonly string[], options: SelectionOptions): Pick<RunRequest, 'selection' | 'all'> {
  const filter = filterOf(options)
  const filters = Object.keys(filter).length > 0
  const ways = [ids.length > 0, filters, options.failedAgainIn !== undefined, options.all === true].filter(Boolean)
  if (ways.length !== 1)
    throw new CliError(exitCodes.usage, 'say which messages: ids, or a filter, or --failed-again-in, or --all')
  if (ids.length > 0) return { selection: { ids: [...ids] } }
  if (options.failedAgainIn !== undefined) return { selection: { failed_again_in: options.failedAgainIn } }
  return { selection: { filter }, ...(options.all && { all: true }) }
}

/**
 * Surveys the selection, asks, and starts the run. Null where nothing was started: a dry run, or nothing to do.
 * @throws {CliError} where nobody agreed
 */
export async function startRun(
  session: Session,
  wanted: RunRequest,
  { dryRun, yes, expect, curl, verb }: SelectionOptions & { verb: string },
): Promise<Run | null> {
  const { api, terminal, context } = session
  // --curl shows the request that matters, which is not the survey before it.
  if (curl) return createRun(session, { ...wanted, ...(dryRun && { dry_run: true }) })
  const survey = (await dataOf(api.POST('/api/v1/runs', { body: { ...wanted, dry_run: true } }))) as Survey
  if (dryRun) {
    await session.print(survey, surveyText)
    return null
  }
  terminal.note(surveyText(survey))
  const { eligible, complete } = survey
  if (eligible === 0) {
    terminal.note('nothing to do')
    return null
  }
  const question = `${verb} ${complete ? '' : 'at least '}${messages(eligible)}${context.production ? ` in ${context.name}` : ''}`
  const guard = await agree(session, { question, eligible, byId: 'ids' in wanted.selection, yes: yes === true, expect })
  return createRun(session, { ...wanted, ...guard })
}

async function createRun({ api }: Session, body: RunRequest): Promise<Run> {
  return (await dataOf(api.POST('/api/v1/runs', { body }))) as Run
}

type Asked = { question: string; eligible: number; byId: boolean; yes: boolean; expect: number | undefined }

/** Returns the number that the API shall check again when it freezes the selection. */
async function agree(
  { terminal, context }: Session,
  { question, eligible, byId, yes, expect }: Asked,
): Promise<Pick<RunRequest, 'expect_count'>> {
  if (expect !== undefined) {
    if (expect !== eligible)
      throw new CliError(exitCodes.failed, `${messages(eligible)}, not ${count(expect)}; nothing was started`)
    return { expect_count: expect }
  }
  const small = eligible <= yesLimit
  if (!context.production && small && (yes || byId)) return {}
  if (!terminal.interactive)
    throw new CliError(
      exitCodes.usage,
      `nobody can be asked here: add ${small && !context.production ? '--yes' : `--expect ${eligible}`}`,
    )
  const agreed = context.production
    ? (await terminal.ask(`${question}? Type their number.`)).replaceAll(',', '').trim() === String(eligible)
    : await terminal.confirm(`${question}?`)
  if (!agreed) throw new CliError(exitCodes.failed, 'nothing was started')
  return {}
}

function surveyText({ eligible, complete, ineligible, topics, groups }: Survey): string {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, value]) => `${plain(name)} ${count(value)}`)
      .join(', ')
  return [
    `${complete ? '' : 'at least '}${messages(eligible)}${eligible > 0 ? ` to ${list(topics)}` : ''}`,
    ...(Object.keys(groups).length > 0 ? [`  that failed in ${list(groups)}`] : []),
    ...(Object.keys(ineligible).length > 0 ? [`  left alone: ${list(ineligible)}`] : []),
  ].join('\n')
}
