import type { JWTPayload } from 'jose'
import { expect, test } from 'vitest'
import { payloadsOf } from './jwt-grants.ts'

test('a claim of a JWT says what it sees; what it does not understand sees nothing', () => {
  const of = (payload: JWTPayload, payloads_claim = 'dlq_payloads') => payloadsOf(payload, { payloads_claim })
  expect(of({})).toEqual({})
  expect(of({ dlq_payloads: 'masked' })).toEqual({})
  expect(of({ dlq_payloads: 'full' })).toEqual({ payloads: 'full' })
  expect(of({ dlq_payloads: 'none' })).toEqual({ payloads: 'none' })
  for (const unknown of ['FULL', '', null, ['full'], true])
    expect(of({ dlq_payloads: unknown }), String(unknown)).toEqual({ payloads: 'none' })
  expect(of({ dlq: { sees: 'full' } }, 'dlq.sees')).toEqual({ payloads: 'full' })
})
