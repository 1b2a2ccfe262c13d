// Compares the list of events with the calls of the log.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { documentedEvents, logCallsIn } from './log-events.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const calls = globSync('{packages/dlq-core,services/*}/src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) => logCallsIn(readFileSync(root + file, 'utf8')).map((call) => ({ file, ...call })))

test('every call names an event, in small letters and underscores', () => {
  expect(calls.length).toBeGreaterThan(60)
  expect(calls.filter(({ events }) => events.length === 0)).toEqual([])
  expect(calls.flatMap(({ events }) => events).filter((event) => !/^[a-z]+(_[a-z]+)*$/.test(event))).toEqual([])
})

test('infra/docs/logs.md lists every event, and none that is never logged', () => {
  const documented = documentedEvents(readFileSync(`${root}infra/docs/logs.md`, 'utf8'))
  const logged = new Set(calls.flatMap(({ events }) => events))
  expect(documented.toSorted()).toEqual([...logged].toSorted())
})

test('no call logs parts of a record, or a secret', () => {
  const secret =
    /\b(payload|record_(key|value|headers)|headers|body|password|secret|authorization|sha256|token)\s*[,:}]/
  expect(calls.filter(({ text }) => secret.test(text))).toEqual([])
})

test('a call with a condition names both events, and one that hands on a payload would be found', () => {
  const [call] = logCallsIn(
    "log[isLast ? 'error' : 'warn']({ payload, at: f(1) }, isLast ? 'job_failed' : 'job_tried')",
  )
  expect(call!.events).toEqual(['job_failed', 'job_tried'])
  expect(call!.text).toMatch(/\bpayload,/)
})
