// Changes of large values leave the process to others, and are bounded in time and memory.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { changeValue, plainReading, type ValueChange } from '../../domain/message/change-value.ts'
import { loadConfig } from '../config/config.ts'
import { createPayloadReader } from '../schemas/payload-reader.ts'
import { createAside, patientBounds } from './aside.ts'
import { type AsideDeps, changeAside, leastAside } from './change-aside.ts'

const aside = createAside(patientBounds)
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)
const large = Buffer.from(JSON.stringify({ list: numbers(60_000) }))
const leave = { reencode: false, force: false }
const asker = { owner: 'ann' }

function change(bytes: Buffer, change: ValueChange, deps: AsideDeps = { aside, payloads: null }) {
  const headers = { before: null, after: null }
  const topics = { original_topic: 'orders', dlq_topic: null }
  const bounds = { maxBytes: 1024 * 1024, waitMs: 0 }
  return changeAside(deps, { bytes, part: 'value', topics, headers, change, ...leave, ...bounds }, asker)
}

/** Turns of the event loop until the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isDone = false
  const end = () => {
    isDone = true
  }
  work.then(end, end)
  let turns = 0
  for (; !isDone; turns++) await turn()
  return turns
}

test('the event loop turns while a large value is patched', async () => {
  const patched = change(large, {
    patch: '[{ "op": "replace", "path": "/list/3", "value": 12345678901234567890.10 }]',
  })
  expect(await turnsDuring(patched)).toBeGreaterThan(10)
  const { bytes, projected } = await patched
  expect(bytes!.subarray(0, 40).toString()).toBe('{"list":[0,1,2,12345678901234567890.10,4')
  expect(projected).toEqual({ payload: bytes!.toString(), value_schema: null, decode_state: null })
})

test.each<[string, ValueChange]>([
  ['a patch that fits', { patch: '[{ "op": "add", "path": "/more", "value": 1 }]' }],
  ['a patch that does not fit', { patch: '[{ "op": "remove", "path": "/missing" }]' }],
  ['a patch that changes nothing', { patch: '[{ "op": "test", "path": "/list/0", "value": 0 }]' }],
  ['a whole value', { json: JSON.stringify({ list: numbers(50_000) }) }],
])('the outcome is the same as beside it: %s', async (_, given) => {
  const outcome = await change(large, given)
  expect(outcome).toMatchObject(changeValue(large, { reading: plainReading(large), change: given, ...leave }))
})

test.each<[string, Buffer, ValueChange]>([
  ['that copies', Buffer.from('{"a":[1]}'), { patch: '[{ "op": "copy", "from": "/a", "path": "/b" }]' }],
  ['that is long itself', Buffer.from('1'), { json: JSON.stringify(numbers(leastAside)) }],
])('a change %s is worked out there too, however short the value is', async (_, bytes, given) => {
  const never: AsideDeps = { payloads: null, aside: { run: () => Promise.reject(new Error('asked')) } }
  await expect(change(bytes, given, never)).rejects.toThrow('asked')
  expect(await change(bytes, given)).toMatchObject({ problem: null })
  // Nothing else is: no thread is started for it.
  const patch = '[{ "op": "add", "path": "", "value": 2 }]'
  expect(await change(bytes, { patch }, never)).toMatchObject({ bytes: Buffer.from('2') })
})

test('what is no JSON is left alone', async () => {
  const text = Buffer.alloc(leastAside, 'x')
  expect(await change(text, { patch: '[{ "op": "remove", "path": "/a" }]' })).toMatchObject({
    ...{ problem: 'no_json', bytes: null },
  })
})

describe('with schemas of the configuration’s files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-aside-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'list.proto'), 'syntax = "proto3"; message Listed { repeated int32 lines = 1; }')
  const fields = [{ name: 'lines', type: { type: 'array', items: 'int' } }]
  writeFileSync(join(folder, 'list.avsc'), JSON.stringify({ type: 'record', name: 'List', fields }))
  const count = 60_000
  // 120,000 and 60,000 as variable integers: Avro counts twice, because of the sign.
  const avro = Buffer.concat([Buffer.from([0xc0, 0xa9, 0x07]), Buffer.alloc(count, 2), Buffer.from([0])])
  const protobuf = Buffer.concat([Buffer.from([0x0a, 0xe0, 0xd4, 0x03]), Buffer.alloc(count, 1)])

  test.each([
    ['avro', 'List', avro, { at: 3, is: 4 }],
    ['protobuf', 'Listed', protobuf, { at: 4, is: 2 }],
  ])('a value in %s is read, changed and written on the other thread', async (format, type, bytes, { at, is }) => {
    const section = { files: folder, rules: [{ topics: 'orders', value: { format, type } }] }
    const schemas = loadConfig({ env: {}, yaml: JSON.stringify({ schemas: section }), needs: [] }).config.schemas!
    // What is in files is asked of no database.
    const payloads = createPayloadReader({ sql: null as never, schemas, now: Date.now })
    const patched = change(
      bytes,
      { patch: '[{ "op": "replace", "path": "/lines/0", "value": 2 }]' },
      { aside, payloads },
    )
    expect(await turnsDuring(patched)).toBeGreaterThan(10)
    const expected = Buffer.from(bytes)
    expected[at] = is
    const outcome = await patched
    expect(outcome).toMatchObject({ problem: null, projected: { value_schema: null, decode_state: 1 } })
    expect(outcome.bytes!.equals(expected)).toBe(true)
  })
})

test('a few bytes that are a long text are changed there too', async () => {
  const section = { rules: [{ topics: 'other', value: { format: 'text' } }] }
  const schemas = loadConfig({ env: {}, yaml: JSON.stringify({ schemas: section }), needs: [] }).config.schemas!
  const payloads = createPayloadReader({ sql: null as never, schemas, now: Date.now })
  const never: AsideDeps = { payloads, aside: { run: () => Promise.reject(new Error('asked')) } }
  const packed = zstdCompressSync(Buffer.from(`{"text":"${'x'.repeat(leastAside)}"}`))
  const patch = '[{ "op": "add", "path": "/more", "value": 1 }]'
  expect(packed.length).toBeLessThan(leastAside / 100)
  await expect(change(packed, { patch }, never)).rejects.toThrow('asked')
})

describe('beyond its bounds a change', () => {
  const patch = '[{ "op": "add", "path": "/more", "value": 1 }]'

  test('that takes too long ends with that problem, and the next one has its own time', async () => {
    // Too slow for any machine: the thread alone takes longer to start.
    const hasty = createAside({ maxRunMs: 1 })
    const tooLong = { problem: 'takes_too_long', bytes: null, details: ['it takes longer than 0.001 s'] }
    for (let n = 0; n < 2; n += 1)
      expect(await change(large, { patch }, { aside: hasty, payloads: null })).toMatchObject(tooLong)
  })

  test('that takes too much memory ends with that problem, and the next one is worked out', async () => {
    const small = createAside({ ...patientBounds, maxHeapMiB: 24 })
    const deps = { aside: small, payloads: null }
    const huge = Buffer.from(JSON.stringify({ list: numbers(490_000) }))
    expect(await change(huge, { patch }, deps)).toMatchObject({
      ...{ problem: 'takes_too_long', details: ['it takes more memory than one change may'] },
    })
    expect(await change(Buffer.from(`{"a":"${'x'.repeat(leastAside)}"}`), { patch }, deps)).toMatchObject({
      problem: null,
    })
  })
})
