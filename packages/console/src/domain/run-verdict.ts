// A run in sentences. A run that sent everything is not good until what it sent has stayed away.

import { foundWords } from './payload/origin-words.ts'
import { actedWords, activeStatuses, type RunFacts, type RunVerdicts, sends } from './runs.ts'
import { spanText } from './time.ts'
import { capital, counted, numberText, plural } from './words.ts'

export type RunTimes = { readonly created_at: string; readonly ended_at: string | null; readonly actor: string }

export function runVerdict(run: RunFacts & RunTimes, now: number): string {
  const { status, progress, kind } = run
  const sending = sends(kind)
  const sent = progress.resolved + progress.failed_again
  if (activeStatuses.has(status)) {
    const acted = sending ? sent : progress.done
    const back = progress.failed_again === 0 ? '' : ` ${counted(progress.failed_again, 'came back', 'came back')}.`
    const state =
      { queued: 'Queued', running: 'Running', paused: 'Paused', cancelling: 'Being cancelled' }[status] ?? status
    const read = sending ? readWords(progress.verdicts) : null
    const rest = read === null ? '' : ` ${read}`
    if (kind === 'origin') return `${state}. ${foundWords(progress.origins) ?? 'Nothing is compared yet.'}`
    return `${state}: ${actedWords(run, acted)} ${sending ? 'sent' : 'done'}.${back}${rest}`
  }
  const ended = run.ended_at === null ? 0 : now - Date.parse(run.ended_at)
  const how = status === 'completed' ? '' : status === 'cancelled' ? 'Cancelled: ' : 'Failed: '
  if (kind === 'origin') {
    const adopted = run.adopt ? ` ${counted(progress.done, 'message has', 'messages have')} taken the original.` : ''
    return `${how}${foundWords(progress.origins) ?? 'Nothing was compared.'}${adopted}`
  }
  if (!sending) return `${how}${counted(progress.done, 'message')} done, ${spanText(ended)} ago.`
  if (sent === 0) return `${how}Nothing was sent.`
  const quiet = progress.resolved
  const stayed =
    quiet === 0
      ? 'none has stayed away'
      : `${numberText(quiet)} ${plural(quiet, 'has', 'have')} been quiet for ${spanText(ended)}`
  const read = readWords(progress.verdicts)
  return `${how}${numberText(sent)} sent. ${capital(stayed)}, ${numberText(progress.failed_again)} came back.${read === null ? '' : ` ${read}`}`
}

/** "612 were read; 31 nobody has read yet." Null where nothing is counted, or nobody can tell of any. */
export function readWords(verdicts: RunVerdicts | null): string | null {
  if (verdicts === null) return null
  const read = verdicts.passed + verdicts.consumed + verdicts.confirmed
  const lost = verdicts.skipped + verdicts.expired
  if (read + verdicts.sent + lost === 0) return null
  const words = [`${numberText(read)} ${plural(read, 'was', 'were')} read`]
  if (verdicts.sent > 0) words.push(`${numberText(verdicts.sent)} nobody has read yet`)
  if (lost > 0) words.push(`${numberText(lost)} ${plural(lost, 'was', 'were')} jumped over or deleted unread`)
  if (verdicts.unknown > 0) words.push(`of ${numberText(verdicts.unknown)} nobody can tell`)
  return `${words.join('; ')}.`
}

/** The stages of a run with a canary, and which of them is under way. */
export function runStages(
  canary: { readonly first: number; readonly then: number; readonly wait: string } | null,
  step: string | null,
): { name: string; state: 'done' | 'now' | 'next' }[] {
  const names = canary === null ? ['all'] : [`first ${canary.first}`, `${Math.round(canary.then * 1000) / 10} %`, 'all']
  const at = stageOf(step, names.length)
  return names.map((name, index) => ({ name, state: index < at ? 'done' : index === at ? 'now' : 'next' }))
}

/** Of the steps that take messages; before them a run has sent nothing, and after them it has taken all. */
const stageSteps = ['first', 'share', 'all']

function stageOf(step: string | null, count: number): number {
  if (count === 1 || step === null) return 0
  if (step === 'settle') return count - 1
  return Math.max(0, stageSteps.indexOf(step))
}
