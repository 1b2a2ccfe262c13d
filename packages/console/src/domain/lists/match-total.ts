// How many messages match. The API counts a search row by row up to a bound, and says then "at least"; a list that was
// read to its end knows better.

import { counted } from '../words.ts'

export type Total = { readonly value: number; readonly relation: 'eq' | 'gte' }

export function matchTotal(said: Total | null, { rows, isWhole }: { rows: number; isWhole: boolean }): Total | null {
  return isWhole && said?.relation !== 'eq' ? { value: rows, relation: 'eq' } : said
}

/** Whether what is selected, all that is loaded, is only a part of what matches: then all of it is offered. */
export function isPartOfAll(
  total: Total | null,
  { chosen, allLoaded }: { chosen: number; allLoaded: boolean },
): boolean {
  return total !== null && allLoaded && (total.relation === 'gte' || total.value > chosen)
}

export function matchWords({ value, relation }: Total): string {
  if (relation === 'eq') return `${counted(value, 'message matches', 'messages match')}.`
  return value === 0 ? 'None was found yet.' : `More than ${counted(value, 'message matches', 'messages match')}.`
}
