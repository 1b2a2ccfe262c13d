import * as v from 'valibot'
import { expect, test } from 'vitest'
import { instant } from './request-schemas.ts'

test('a time is one of the years that PostgreSQL takes as JavaScript writes them', () => {
  const fault = (time: string) => v.safeParse(instant, time).issues?.[0]?.message ?? null
  const beyond = 'must be within the years 1 to 9999 (UTC)'
  expect(['9999-12-31T23:59:59-01:00', '0001-01-01T00:00:00+01:00'].map(fault)).toEqual([beyond, beyond])
  expect(['9999-12-31T23:59:59Z', '0001-01-01T00:00:00z'].map(fault)).toEqual([null, null])
  const noTime = 'must be a time such as 2026-02-20T10:30:00Z'
  expect(['2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z'].map(fault)).toEqual([noTime, noTime])
  expect(fault('2024-02-29T23:00:00-05:00')).toBeNull()
})
