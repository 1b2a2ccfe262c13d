// Patches of large values leave the process to others.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { patchValue } from '../../domain/message/edit-message.ts'
import { leastAside, patchAside } from './patch-aside.ts'

function messageOf(value: unknown) {
  return { record_headers: '[]', record_value: Buffer.from(JSON.stringify(value)), payload: null }
}
const large = messageOf({ list: Array.from({ length: 60_000 }, (_, at) => at) })

test('the event loop turns while a large value is patched', async () => {
  const state = { done: false }
  const patched = patchAside(
    large,
    '[{ "op": "replace", "path": "/list/3", "value": 12345678901234567890.10 }]',
  ).finally(() => {
    state.done = true
  })
  let turns = 0
  for (; !state.done; turns++) await turn()
  expect(turns).toBeGreaterThan(10)
  expect((await patched).bytes!.subarray(0, 40).toString()).toBe('{"list":[0,1,2,12345678901234567890.10,4')
})

test.each([
  ['fits', '[{ "op": "add", "path": "/more", "value": 1 }]'],
  ['does not fit', '[{ "op": "remove", "path": "/missing" }]'],
  ['changes nothing', '[{ "op": "test", "path": "/list/0", "value": 0 }]'],
])('the outcome is the same as beside it: a patch that %s', async (_, patch) => {
  expect(large.record_value.length).toBeGreaterThan(leastAside)
  expect(await patchAside(large, patch)).toEqual(patchValue(large, patch))
})

test('what is no JSON is left alone', async () => {
  const text = { ...large, record_value: Buffer.alloc(leastAside, 'x') }
  expect(await patchAside(text, '[{ "op": "remove", "path": "/a" }]')).toMatchObject({
    problem: 'no_json',
    bytes: null,
  })
})
