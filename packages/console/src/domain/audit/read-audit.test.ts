import { expect, test } from 'vitest'
import { isChanged, readAudit } from './read-audit.ts'

test('what was before and after keeps its digits, and what did not change is told apart', () => {
  const text = `{"entries":[
    {"id":"2","action":"position.reset","before":{"next_offset":123456789012345678,"topic":"orders"},"after":{"next_offset":12345678901234567890.10,"topic":"orders","deep":{"a":[1.0]}}},
    {"id":"1","action":"message.delete","before":null,"after":null}],"next_cursor":"c"}`
  const page = readAudit<{ id: string }>(text)
  expect(page.next_cursor).toBe('c')
  expect(page.entries[0]!.fields).toEqual([
    { name: 'next_offset', before: '123456789012345678', after: '12345678901234567890.10' },
    { name: 'topic', before: '"orders"', after: '"orders"' },
    { name: 'deep', before: null, after: '{"a":[1.0]}' },
  ])
  expect(page.entries[0]!.fields.filter(isChanged).map(({ name }) => name)).toEqual(['next_offset', 'deep'])
  expect(page.entries[1]).toMatchObject({ id: '1', fields: [] })
})
