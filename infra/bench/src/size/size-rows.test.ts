import { expect, test } from 'vitest'
import { sizeRow } from './size-rows.ts'

const now = Date.UTC(2026, 0, 15)
const rows = Array.from({ length: 20_000 }, (_, index) => sizeRow(index * 1009, { at: now - index * 1000, now }))
const share = (holds: (row: (typeof rows)[number]) => boolean) => rows.filter(holds).length / rows.length

test('the same number always gives the same row', () => {
  expect(sizeRow(4711, { at: now, now })).toEqual(sizeRow(4711, { at: now, now }))
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
})

test('bodies have about 600 bytes, and are JSON', () => {
  const bytes = rows.map(({ record_value }) => record_value.length)
  expect(Math.min(...bytes)).toBeGreaterThan(500)
  expect(Math.max(...bytes)).toBeLessThan(700)
  for (const { record_value, record_headers } of rows.slice(0, 300)) {
    JSON.parse(String(record_value))
    JSON.parse(record_headers)
  }
})

test('few topics have most messages, most are RESOLVED, and few are due', () => {
  expect(share(({ original_topic }) => original_topic === 'topic-0')).toBeGreaterThan(0.1)
  expect(share(({ original_topic }) => original_topic === 'topic-199')).toBeLessThan(0.01)
  expect(share(({ status }) => status === 'RESOLVED')).toBeCloseTo(0.9, 1)
  expect(share(({ status }) => status === 'PENDING')).toBeCloseTo(0.03, 1)
  const due = share(({ next_retry_at }) => next_retry_at !== null && next_retry_at.getTime() <= now)
  expect(due).toBeGreaterThan(0.005)
  expect(due).toBeLessThan(0.02)
})
