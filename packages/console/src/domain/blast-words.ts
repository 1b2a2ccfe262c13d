// Whom a run would reach, in words.

import { bytesText, counted, numberText } from './words.ts'

type Amount = { readonly value: number; readonly relation: 'eq' | 'about' }

/** "about 3,000 messages, 3.5 MiB; others write 41 a second there". `bytes`: null where masks hide them. */
export function amountWords(messages: Amount, bytes: Amount | null, producedPerSecond: number | null): string {
  const about = messages.relation === 'about' ? 'about ' : ''
  const others = producedPerSecond === null ? '' : `; others write ${rateText(producedPerSecond)} there`
  const size = bytes === null ? '' : `, ${bytesText(bytes.value)}`
  return `${about}${counted(messages.value, 'message')}${size}${others}`
}

export type ReaderFacts = {
  readonly role: 'failed' | 'bystander'
  readonly state: string
  readonly members: number | null
  readonly lag: number | null
  readonly per_second: number | null
  readonly best_per_second: number | null
  readonly minutes: number | null
  readonly catches_up: boolean | null
  readonly seen_before: number | null
}

/** "Stable, 3 members, 12 unread, reads 41 a second; has read 3,000 of these before". */
export function readerWords({ state, members, lag, per_second, seen_before }: ReaderFacts): string {
  const parts = [
    state,
    ...(members === null ? [] : [counted(members, 'member')]),
    ...(lag === null ? [] : [`${numberText(lag)} unread`]),
    ...(per_second === null ? [] : [`reads ${rateText(per_second)}`]),
  ]
  return `${parts.join(', ')}${seen_before === null || seen_before === 0 ? '' : `; has read ${numberText(seen_before)} of these before`}`
}

/** How long the records keep it busy: "12 s", "about 4 m", "would not catch up". */
export function busyWords({ minutes, catches_up }: Pick<ReaderFacts, 'minutes' | 'catches_up'>): string {
  if (catches_up === false) return 'would not catch up'
  if (minutes === null) return 'time not known'
  if (minutes < 1) return `about ${numberText(Math.max(1, Math.round(minutes * 60)))} s`
  return minutes < 120
    ? `about ${numberText(Math.round(minutes))} m`
    : `about ${numberText(Math.round(minutes / 60))} h`
}

export function reachWords(goneGroups: number): string {
  return `${counted(goneGroups, 'group has', 'groups have')} had no members for a day.`
}

type Known = {
  readonly superseded: number
  readonly waiting: number
  readonly unknown: number
  readonly examined: number
}

/** What a run would bring after something newer; null where nothing newer is known. */
export function staleWords({ superseded, waiting, unknown, examined }: Known): string | null {
  if (superseded + waiting + unknown === 0) return null
  const parts = [
    ...(superseded === 0
      ? []
      : [
          `${counted(superseded, 'is older than a record', 'are older than records')} of the same key sent or read since`,
        ]),
    ...(waiting === 0 ? [] : [`of ${numberText(waiting)} a newer dead letter of the key waits or was given up`]),
    ...(unknown === 0
      ? []
      : [`of ${numberText(unknown)} it cannot be told yet whether they are older than a newer record`]),
  ]
  return `Of the first ${counted(examined, 'message')}, ${parts.join('; ')}.`
}

/** Whether a policy holds what a run would bring after something newer. */
export function holdsStale(targets: readonly { staleness: Known & { held: boolean } }[]): boolean {
  return targets.some(({ staleness: { held, superseded, unknown } }) => held && superseded + unknown > 0)
}

function rateText(perSecond: number): string {
  return `${numberText(perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond))} a second`
}
