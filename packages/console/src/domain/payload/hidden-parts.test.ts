import { expect, test } from 'vitest'
import { hiddenParts, hiddenWords } from './hidden-parts.ts'

test('places of a value are told from a value that is hidden as a whole', () => {
  expect(
    hiddenParts(['/payload/customer/email', '/payload/cards/*/number', '/value_bytes', '/headers/*/value']),
  ).toEqual({
    ...{ wholeValue: false, places: ['/customer/email', '/cards/*/number'] },
    ...{ value: true, key: false, headers: true },
  })
  expect(hiddenParts(['/payload', '/key'])).toMatchObject({ wholeValue: true, places: [], value: true, key: true })
  expect(hiddenParts(['/error_message'])).toMatchObject({ wholeValue: false, value: false })
  expect(hiddenParts(['/value_bytes'])).toMatchObject({ wholeValue: false, places: [], value: true })
})

test('what is hidden is said in words, and nothing where nothing is', () => {
  expect(hiddenWords(undefined)).toBeNull()
  expect(hiddenWords([])).toBeNull()
  expect(hiddenWords(['/payload/a', '/payload/b', '/value_bytes', '/key', '/error_message', '/error_stacktrace'])).toBe(
    '2 places of the value, the key, parts of the error and parts of the stack trace',
  )
  expect(hiddenWords(['/payload', '/value_bytes', '/headers/*/value'])).toBe('the value and values of headers')
  expect(hiddenWords(['/value_bytes'])).toBe('the bytes of the value')
  expect(hiddenWords(['/something_new'])).toBe('parts of it')
})
