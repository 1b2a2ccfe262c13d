import { expect, test } from 'vitest'
import { serverFault } from './server-support.ts'

test('a version is supported, too old, or newer than what was tried', () => {
  const faultOf = (version: number) => serverFault({ version, encoding: 'UTF8' })
  for (const version of [150_000, 160_014, 170_010, 180_004]) expect(faultOf(version)).toBeNull()
  expect(faultOf(140_022)).toMatchObject({ level: 'error', message: expect.stringContaining('PostgreSQL 14') })
  expect(faultOf(190_000)).toMatchObject({ level: 'warning', message: expect.stringContaining('PostgreSQL 19') })
})

test('a database whose encoding is not UTF8 is refused, also on a server that was not tried', () => {
  for (const version of [170_010, 190_000])
    for (const encoding of ['LATIN1', 'SQL_ASCII'])
      expect(serverFault({ version, encoding })).toMatchObject({
        level: 'error',
        message: expect.stringContaining(encoding),
      })
})
