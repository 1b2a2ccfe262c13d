// The runs that are offered for the messages of a list or an error group.

import type { DraftKind } from '../run-draft.ts'

export type RunChoice = { id: DraftKind; text: string; note?: string; danger?: boolean }

const retry: RunChoice = { id: 'retry', text: 'Retry…' }
const origin: RunChoice = {
  id: 'origin',
  text: 'Compare with originals…',
  note: 'with the records that failed; then adopt what differs',
}
const dead: RunChoice = {
  id: 'dead',
  text: 'Give up…',
  note: 'PENDING becomes DEAD: nothing is tried again by itself',
}
const remove: RunChoice = { id: 'delete', text: 'Delete…', danger: true }
const redirect: RunChoice = { id: 'redirect', text: 'Send to another topic…' }
const revive: RunChoice = { id: 'revive', text: 'Revive…', note: 'DEAD becomes PENDING, by policy' }
const archive: RunChoice = { id: 'archive', text: 'Archive…', note: 'what was sent or given up' }
const restore: RunChoice = { id: 'restore', text: 'Restore…' }
const purge: RunChoice = { id: 'purge', text: 'Purge…' }

type Choices = { readonly first: readonly RunChoice[]; readonly more: readonly RunChoice[] }

/** Those of a group, which has live messages only. Its page has a button of its own for a retry. */
export const groupChoices: readonly RunChoice[] = [dead, revive, origin, redirect, archive, remove]

/** `areChosen`: the messages are named one by one. A run that sends finds such ones among the live messages only. */
export function listChoices({ isArchive, areChosen }: { isArchive: boolean; areChosen: boolean }): Choices {
  if (!isArchive) return { first: [retry, origin, dead, remove], more: [redirect, revive, archive] }
  return { first: areChosen ? [restore, purge] : [retry, restore, purge], more: [] }
}
