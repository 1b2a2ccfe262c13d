// How many messages match. The API counts a search row by row up to a bound, and says then "at least"; a list that was
// read to its end knows better.

import { counted } from '../words.ts'

export type Total = { readonly value: number; readonly relation: 'eq' | 'gte' }

export function matchTotal(said: Total | null, { rows, isWhole }: { rows: number; isWhole: boolean }): Total | null {
  return isWhole && said?.relation !== 'eq' ? { value: rows, relation: 'eq' } : said
}

export function matchWords({ value, relation }: Total): string {
  if (relation === 'eq') return `${counted(value, 'message matches', 'messages match')}.`
  return value === 0 ? 'None was found yet.' : `More than ${counted(value, 'message matches', 'messages match')}.`
}
