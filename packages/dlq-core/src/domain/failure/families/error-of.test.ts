import { expect, test } from 'vitest'
import { causeChain, errorOf } from './error-of.ts'

const wrapper = { errorClass: 'java.util.concurrent.ExecutionException', errorMessage: 'wrapped' }

test('a chain has each exception with all lines of its message', () => {
  const trace =
    'a.Outer: one\ntwo\n\tat a.B.c(B.java:1)\nCaused by: a.Bare\n\t... 1 more\nCaused by: a.Empty: \n\tat x\n'
  expect(causeChain(trace)).toEqual([
    { errorClass: 'a.Outer', errorMessage: 'one\ntwo' },
    { errorClass: 'a.Bare', errorMessage: null },
    { errorClass: 'a.Empty', errorMessage: '' },
  ])
})

test('traces of Windows and without frames are read alike', () => {
  expect(causeChain('a.B: x\r\n\tat y\r\nCaused by: a.C: z\r\n')).toEqual([
    { errorClass: 'a.B', errorMessage: 'x' },
    { errorClass: 'a.C', errorMessage: 'z' },
  ])
  const bare = 'a.B: x\nCaused by: a.C\nCaused by: a.D: y'
  expect(causeChain(bare).map(({ errorMessage }) => errorMessage)).toEqual(['x', null, 'y'])
})

test.each(['\n\tSuppressed: a.C: y', '\n    at read (read.js:1:1)'])('a message ends before %o', (rest) => {
  expect(causeChain(`a.B: x${rest}`)).toEqual([{ errorClass: 'a.B', errorMessage: 'x' }])
})

test('of a failed deserialization the root cause is the error, whether its header or its stack trace tells of it', () => {
  const name = 'org.apache.kafka.common.errors.RecordDeserializationException'
  const chain = 'Caused by: a.Wrapped: one\n\tat b\nCaused by: a.Root: last\n\tat c\n'
  expect(errorOf([wrapper], `${name}: x\n\tat a\n${chain}`).errorClass).toBe('a.Root')
  expect(errorOf([{ errorClass: name, errorMessage: 'x' }], `a.First: x\n\tat a\n${chain}`).errorClass).toBe('a.Root')
})

test.each(['', '\n', 'Traceback (most recent call last):\n  File "a.py"', 'Caused by: ', '\nCaused by: [CIRCULAR: x]'])(
  'text that is no Java stack trace has no causes: %o',
  (trace) => {
    expect(causeChain(trace)).toEqual([])
  },
)

test('of a stack trace of 900 KB the first cause at its head and the root cause at its tail are found', () => {
  const frames = '\tat app.Deep.recurse(Deep.java:1)\n'.repeat(27_000)
  const trace = `${wrapper.errorClass}: x\n\tat a\nCaused by: a.First: one\n${frames}Caused by: a.Root: last\n\tat z\n`
  expect(trace.length).toBeGreaterThan(900_000)
  expect(causeChain(trace).map(({ errorClass }) => errorClass)).toEqual([wrapper.errorClass, 'a.First', 'a.Root'])
  expect(errorOf([wrapper], trace)).toEqual({ errorClass: 'a.First', errorMessage: 'one' })
})

test('where only a wrapper is known, it is the error', () => {
  expect(errorOf([wrapper], null)).toEqual(wrapper)
  expect(errorOf([], `${wrapper.errorClass}: wrapped\n`)).toEqual(wrapper)
  expect(errorOf([], null)).toEqual({ errorClass: null, errorMessage: null })
})

test('a message without a class is kept, the first that says something', () => {
  const nothing = [null, ' '].map((errorMessage) => ({ errorClass: null, errorMessage }))
  expect(errorOf([...nothing, { errorClass: null, errorMessage: 'boom' }], null).errorMessage).toBe('boom')
  expect(errorOf([{ errorClass: null, errorMessage: 'boom' }], null)).toEqual({
    errorClass: null,
    errorMessage: 'boom',
  })
})

test.each(['', ' ', 'a.B', 'Handler threw exception; ', 'Listener failed; '])(
  'the message %o says nothing',
  (message) => {
    expect(errorOf([{ errorClass: 'a.B', errorMessage: message }], null)).toEqual({
      errorClass: 'a.B',
      errorMessage: null,
    })
  },
)
