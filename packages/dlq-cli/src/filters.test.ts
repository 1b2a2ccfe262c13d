import { Command } from 'commander'
import { meansAllTopics } from 'dlq-core/domain/message/all-topics.ts'
import { messageFilterEntries } from 'dlq-core/domain/message/message-filter.ts'
import { expect, test } from 'vitest'
import { selectionOf } from './commands/selection.ts'
import { withFilters } from './filters.ts'
import type { Session } from './session.ts'

const fields = Object.keys(messageFilterEntries)
const optionOf = (field: string) => field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

test('each field of the filter is an option', () => {
  const names = withFilters(new Command()).options.map((option) => option.attributeName())
  expect(names.toSorted()).toEqual(fields.map(optionOf).toSorted())
})

test.each(fields)('whether %s alone means messages of all topics is decided as by the API', async (field) => {
  const selected = selectionOf({ now: async () => 0 } as Session, [], { [optionOf(field)]: 'x' })
  if (meansAllTopics({ [field]: 'x' })) await expect(selected).rejects.toThrow('add --all')
  else expect(await selected).toEqual({ selection: { filter: { [field]: 'x' } } })
})
