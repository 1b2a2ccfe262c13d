import { expect, test } from 'vitest'
import { versionFault } from './server-version.ts'

test('a version is supported, too old, or newer than what was tried', () => {
  for (const version of [150_000, 160_014, 170_010, 180_004]) expect(versionFault(version)).toBeNull()
  expect(versionFault(140_022)).toMatchObject({ level: 'error', message: expect.stringContaining('PostgreSQL 14') })
  expect(versionFault(190_000)).toMatchObject({ level: 'warning', message: expect.stringContaining('PostgreSQL 19') })
})
