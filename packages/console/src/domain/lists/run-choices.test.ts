import { archiveKinds, archiveOnlyKinds, type RunKind } from 'dlq-core/domain/message/run-kinds.ts'
import { expect, test } from 'vitest'
import { draftKinds } from '../run-draft.ts'
import { groupChoices, listChoices, type RunChoice } from './run-choices.ts'

const offered = (isArchive: boolean, areChosen: boolean) => {
  const { first, more } = listChoices({ isArchive, areChosen })
  return [...first, ...more].map(({ id }: RunChoice): RunKind => id)
}

test.each([true, false])('a list offers what the API takes for its messages; named one by one: %s', (areChosen) => {
  for (const kind of offered(false, areChosen)) expect(archiveOnlyKinds).not.toContain(kind)
  // Of ids, the API looks in the archive only for what is about the archive alone.
  for (const kind of offered(true, areChosen)) expect(areChosen ? archiveOnlyKinds : archiveKinds).toContain(kind)
})

test('each kind of run can be begun from a list, but a change, which begins with that of one message', () => {
  const all = [...offered(false, false), ...offered(true, false)]
  expect([...new Set(all)].toSorted()).toEqual(draftKinds.filter((kind) => kind !== 'edit').toSorted())
  const ofGroup = ['retry', ...groupChoices.map(({ id }) => id)]
  expect(ofGroup.toSorted()).toEqual(offered(false, false).toSorted())
})
