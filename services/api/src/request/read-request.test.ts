// Reading a large body lets others be answered between its steps.

import { setImmediate as turn } from 'node:timers/promises'
import { HonoRequest } from 'hono/request'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { Route } from '../http/define-route.ts'
import { largeBody, readRequest } from './read-request.ts'

const nothing = v.object({})
const route = {
  params: nothing,
  query: nothing,
  headers: nothing,
  body: v.looseObject({}),
  masks: 'none',
} as never as Route

/** Reads a body of so many bytes. Returns how often the event loop came round meanwhile. */
async function turnsOf(bytes: number): Promise<number> {
  const raw = new Request('http://localhost/', { headers: { 'content-type': 'application/json' } })
  const request = new HonoRequest(raw, '/', [[[undefined, {}]]] as never)
  let turns = 0
  let isRead = false
  const count = async () => {
    for (; !isRead; turns += 1) await turn()
  }
  const reading = readRequest(request, Buffer.from(`{"value":"${'x'.repeat(bytes - 12)}"}`), route)
  const counted = count()
  const { body, exactJson } = await reading
  isRead = true
  await counted
  expect(JSON.parse(exactJson('value'))).toBe((body as { value: string }).value)
  return turns
}

test('a large body is looked at, parsed and handled in turns of their own', async () => {
  expect(await turnsOf(largeBody)).toBeGreaterThanOrEqual(2)
  expect(await turnsOf(4 * 1024 * 1024)).toBeGreaterThanOrEqual(2)
  // A small one takes no longer than a turn does.
  expect(await turnsOf(largeBody - 1)).toBeLessThan(2)
})
