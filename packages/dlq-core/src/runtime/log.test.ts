import { expect, test } from 'vitest'
import { serializeError } from './log.ts'

test('an error of a schema that lacks migrations says in the log what to do', () => {
  const error = Object.assign(new Error('column "a" does not exist'), { code: '42703', query: 'select a' })
  expect(serializeError(error)).toEqual({
    name: 'Error',
    message: 'column "a" does not exist',
    code: '42703',
    hint: 'the database lacks what this version asks for: run its migrations (node db/migrate.ts up)',
    stack: error.stack,
  })
  expect(serializeError(Object.assign(error, { code: '23505' }))).toMatchObject({ hint: undefined })
})
