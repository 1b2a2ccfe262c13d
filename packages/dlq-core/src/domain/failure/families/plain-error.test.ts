import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { unknownFailure } from '../failure-context.ts'
import { readFailure } from '../read-failure.ts'

test('the last error header is the message, and nothing else is known', () => {
  expect(
    readFailure(
      deadLetter([
        ['error', 'first'],
        ['error', 'boom'],
      ]),
    ),
  ).toMatchObject({
    family: 'plain-error',
    context: { ...unknownFailure, errorMessage: 'boom' },
  })
})

test.each([[[]], [[['error', null]]], [[['error', '']]], [[['Error', 'boom']]]] as const)(
  'with the headers %o the message is "unknown error", by no family',
  (headers) => {
    const { family, families, context } = readFailure(deadLetter(headers))
    expect({ family, families, context }).toEqual({
      family: null,
      families: [],
      context: { ...unknownFailure, errorMessage: 'unknown error' },
    })
  },
)

test('bytes that are not UTF-8 become replacement characters', () => {
  const { context } = readFailure(deadLetter([['error', Buffer.from([0x62, 0xff, 0x6d])]]))
  expect(context.errorMessage).toBe('b\ufffdm')
})

test('beside any other family it is noted, but not read', () => {
  const record = deadLetter([
    ['__connect.errors.topic', 'orders'],
    ['error', 'boom'],
  ])
  expect(readFailure(record)).toMatchObject({
    family: 'kafka-connect',
    families: ['kafka-connect', 'plain-error'],
    context: { errorMessage: null },
  })
})
