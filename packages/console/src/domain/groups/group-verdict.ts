// An error group in one or two sentences.

import type { StatusCounts } from '../states.ts'
import { numberText, plural } from '../words.ts'

export type GroupWords = {
  readonly state: 'open' | 'snoozed' | 'ignored' | 'resolved'
  readonly regressed: boolean
  readonly counts: StatusCounts
}

export function groupVerdict({ state, regressed, counts }: GroupWords, newestHeldUpBy: readonly string[]): string[] {
  const { PENDING, RETRYING, RESOLVED, DEAD } = counts
  const parts = [
    ...(DEAD > 0 ? [`${numberText(DEAD)} ${plural(DEAD, 'is', 'are')} DEAD`] : []),
    ...(PENDING > 0 ? [`${numberText(PENDING)} ${plural(PENDING, 'waits', 'wait')}`] : []),
    ...(RETRYING > 0 ? [`${numberText(RETRYING)} ${plural(RETRYING, 'is', 'are')} being sent`] : []),
  ]
  const open = parts.length === 0 ? 'Nothing waits and nothing is given up' : joinAnd(parts)
  const sent =
    RESOLVED === 0
      ? ''
      : `; ${numberText(RESOLVED)} ${plural(RESOLVED, 'was', 'were')} sent and ${plural(RESOLVED, 'is', 'are')} not back`
  const sentences = [`${open}${sent}.`]
  if (regressed) sentences.push('It came back after it had been resolved.')
  if (state === 'ignored') sentences.push('It is ignored: stored and retried by policy, and not counted as burning.')
  if (newestHeldUpBy.length > 0 && PENDING > 0) sentences.push(`The newest waits: ${newestHeldUpBy.join('; ')}.`)
  return sentences
}

function joinAnd(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
