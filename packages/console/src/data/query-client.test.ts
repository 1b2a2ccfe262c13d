import { DlqApiError } from 'dlq-client/api-client.ts'
import { expect, test } from 'vitest'
import { readingAgain } from './query-client.ts'

test('a change waits for what is read again, unless the API is away: then its fault is told at once', async () => {
  let reads = 0
  const settled = readingAgain(async () => {
    reads += 1
    return 'read'
  })
  const refused = (status: number) => new DlqApiError(status, { error: { message: 'no', details: [] } })
  expect(await settled(null, null)).toBe('read')
  expect(await settled(null, refused(412))).toBe('read')
  expect(settled(null, refused(503))).toBeUndefined()
  expect(settled(null, new TypeError('Failed to fetch'))).toBeUndefined()
  expect(reads).toBe(4)
})
