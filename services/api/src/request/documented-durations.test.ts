// The OpenAPI document's pattern for durations agrees with the server, as far as a pattern can.
import { toJsonSchema } from '@valibot/to-json-schema'
import { policyFieldSchemas } from 'dlq-core/runtime/config/policy-schema.ts'
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'

type Name = 'initial_delay' | 'refailure_window' | 'retention'

const patternOf = (name: Name) => {
  const json = toJsonSchema(policyFieldSchemas[name], { typeMode: 'input', errorMode: 'ignore' })
  const text = JSON.stringify(json).match(/"pattern":"([^"]+)"/)![1]!
  return new RegExp(text)
}

test.each<Name>(['initial_delay', 'refailure_window', 'retention'])('what is documented of %s is taken', (name) => {
  fc.assert(
    fc.property(fc.stringMatching(patternOf(name)), (text) => {
      fc.pre(text !== '')
      expect(v.safeParse(policyFieldSchemas[name], text).success, text).toBe(true)
    }),
  )
})

test.each([
  ['initial_delay', '366d', '367d'],
  ['initial_delay', '150d12h', '400d'],
  ['refailure_window', '366d', '367d'],
  ['refailure_window', '200d', '0s'],
  ['retention', '36500d', '36501d'],
  ['retention', '1095d12h', '40000d'],
] as const)('%s is documented as far as it is taken: %s, not %s', (name, last, beyond) => {
  expect(last).toMatch(patternOf(name))
  expect(v.safeParse(policyFieldSchemas[name], last).success).toBe(true)
  expect(beyond).not.toMatch(patternOf(name))
  expect(v.safeParse(policyFieldSchemas[name], beyond).success).toBe(false)
})
