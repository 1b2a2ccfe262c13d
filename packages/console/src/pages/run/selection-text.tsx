// What a run took from, with the title of its error group in the place of an id.

import { useGroupTitle } from '../../data/queries/groups.ts'
import { groupOfSelection, selectionWords } from '../../domain/run-draft.ts'

export function SelectionText({ selection }: { selection: Readonly<Record<string, unknown>> }) {
  return <bdi>{selectionWords(selection, useGroupTitle(groupOfSelection(selection)))}</bdi>
}
