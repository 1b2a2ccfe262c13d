// A run in sentences. A run that sent everything is not good until what it sent has stayed away.

import { activeStatuses, type RunFacts, totalText } from './runs.ts'
import { spanText } from './time.ts'
import { counted, numberText, plural } from './words.ts'

export type RunTimes = { readonly created_at: string; readonly ended_at: string | null; readonly actor: string }

const sendingKinds: ReadonlySet<string> = new Set(['retry', 'redirect'])

export function runVerdict(run: RunFacts & RunTimes, now: number): string {
  const { status, progress, matched, kind } = run
  const sending = sendingKinds.has(kind)
  const sent = progress.resolved + progress.failed_again
  if (activeStatuses.has(status)) {
    const acted = sending ? sent : progress.done
    const back = progress.failed_again === 0 ? '' : ` ${counted(progress.failed_again, 'came back', 'came back')}.`
    const state =
      { queued: 'Queued', running: 'Running', paused: 'Paused', cancelling: 'Being cancelled' }[status] ?? status
    return `${state}: ${numberText(acted)} of ${totalText(matched)} ${sending ? 'sent' : 'done'}.${back}`
  }
  const ended = run.ended_at === null ? 0 : now - Date.parse(run.ended_at)
  const how = status === 'completed' ? '' : status === 'cancelled' ? 'Cancelled: ' : 'Failed: '
  if (!sending) return `${how}${counted(progress.done, 'message')} done, ${spanText(ended)} ago.`
  if (sent === 0) return `${how}Nothing was sent.`
  const quiet = progress.resolved
  const stayed =
    quiet === 0
      ? 'none has stayed away'
      : `${numberText(quiet)} ${plural(quiet, 'has', 'have')} been quiet for ${spanText(ended)}`
  return `${how}${numberText(sent)} sent. ${capital(stayed)}, ${numberText(progress.failed_again)} came back.`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The stages of a run with a canary, and which of them is under way. */
export function runStages(
  canary: { readonly first: number; readonly then: number; readonly wait: string } | null,
  step: string | null,
  ended: boolean,
): { name: string; state: 'done' | 'now' | 'next' }[] {
  const names = canary === null ? ['all'] : [`first ${canary.first}`, `${Math.round(canary.then * 1000) / 10} %`, 'all']
  const at = ended ? names.length : stageOf(step, names.length)
  return names.map((name, index) => ({ name, state: index < at ? 'done' : index === at ? 'now' : 'next' }))
}

function stageOf(step: string | null, count: number): number {
  if (count === 1 || step === null) return 0
  if (/share|then|second|canary.?2|part/i.test(step)) return 1
  return /first|canary|one/i.test(step) ? 0 : /all|rest|settle/i.test(step) ? 2 : 0
}
