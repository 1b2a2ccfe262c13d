// The open groups that Now shows, and how many they are. Only those seen last are read; how many are open beside them is
// what the API has counted.

import { openOf } from '../states.ts'
import { counted, numberText, plural } from '../words.ts'
import { byHeat, type GroupFacts, type Heat } from './heat.ts'

export type OpenGroups<Group> = {
  readonly groups: readonly Group[]
  readonly totals: Readonly<Record<string, number>> | null
  readonly next_cursor: string | null
}

export type BurningCounts = {
  /** Of the groups that were read, those with messages within two hours. */
  readonly burning: number
  readonly fresh: number
  readonly open: number
  /** More are open than were read: further ones may burn. */
  readonly partly: boolean
}

/** `rows`: the hottest first. A quiet group that holds nothing open is left out. */
export function burningOf<Group extends GroupFacts>(
  { groups, totals, next_cursor }: OpenGroups<Group>,
  now: number,
): BurningCounts & { rows: { group: Group; heat: Heat }[] } {
  const all = byHeat(groups, now)
  const partly = next_cursor !== null
  return {
    rows: all.filter(({ group, heat }) => heat !== 'quiet' || openOf(group.counts) > 0),
    burning: all.filter(({ heat }) => heat !== 'quiet').length,
    fresh: (partly ? totals?.new : undefined) ?? all.filter(({ heat }) => heat.startsWith('new')).length,
    open: totals?.open ?? all.length,
    partly,
  }
}

/** "3 groups burn", "at least 50 of 74 open groups burn". */
export function burningWords({ burning, open, partly }: BurningCounts): string {
  if (!partly) return counted(burning, 'group burns', 'groups burn')
  return `at least ${numberText(burning)} of ${numberText(open)} open groups ${plural(burning, 'burns', 'burn')}`
}
