// The inbox's tabs: each is a filter of the API's list of groups.

import { counted, numberText } from '../words.ts'

export const groupTabs = ['open', 'mine', 'new', 'regressed', 'snoozed', 'ignored', 'resolved', 'all'] as const
export type GroupTab = (typeof groupTabs)[number]

export function tabFilter(
  tab: GroupTab,
  { me, dayAgo }: { me: string; dayAgo: string },
): Readonly<Record<string, string>> {
  if (tab === 'all') return {}
  if (tab === 'mine') return { state: 'open', owner: me }
  if (tab === 'new') return { state: 'open', owner: 'none', first_seen_from: dayAgo }
  if (tab === 'regressed') return { regressed: 'true' }
  return { state: tab }
}

/** The sentence above the list. */
export function tabWords(
  tab: GroupTab,
  shown: number,
  totals: Readonly<Record<string, number>> | null,
  more: boolean,
): string {
  if (tab !== 'open' || totals === null) {
    return more ? `More than ${numberText(shown)} groups.` : `${counted(shown, 'group')}.`
  }
  const { open = shown, new: fresh = 0, regressed = 0, mine = 0 } = totals
  const parts = [
    ...(fresh > 0 ? [`${numberText(fresh)} new`] : []),
    ...(regressed > 0 ? [`${numberText(regressed)} that came back`] : []),
    ...(mine > 0 ? [`${numberText(mine)} yours`] : []),
  ]
  return `${counted(open, 'group is', 'groups are')} open${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`
}
