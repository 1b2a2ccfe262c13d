import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprint, fingerprintId } from './error-fingerprint.ts'

const unknown = { errorClass: null, errorMessage: null, errorStacktrace: null }

const trace = ({ line = 42, order = '4711', method = 'process', cause = 'com.acme.NotFoundException' } = {}) =>
  `org.springframework.kafka.listener.ListenerExecutionFailedException: Listener failed
	at org.springframework.kafka.listener.ListenerConsumer.run(ListenerConsumer.java:${line + 1000})
Caused by: ${cause}: order ${order} not found since 2026-01-0${line % 10}
	at java.base/java.util.Optional.orElseThrow(Optional.java:403)
	at com.acme.OrderService.lambda$${method}$${line}(OrderService.java:${line})
	at com.acme.OrderService$$Lambda/0x00007f${order}.get(Unknown Source)`

const failure = (stacktrace: string) => ({
  errorClass: 'org.springframework.kafka.listener.ListenerExecutionFailedException',
  errorMessage: 'Listener failed',
  errorStacktrace: stacktrace,
})

describe('a group', () => {
  test('is determined by class and place, and shows the message without its values', () => {
    expect(fingerprint(failure(trace()))).toEqual({
      id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
      version: 1,
      errorClass: 'com.acme.NotFoundException',
      location: 'com.acme.OrderService.process',
      message: 'order <num> not found since <date>',
      title: 'NotFoundException in OrderService.process',
    })
  })

  test('keeps its id from one version of this program to the next', () => {
    expect(fingerprint(failure(trace())).id).toBe('982f8017-0c0f-8d22-835a-402dcc34da8e')
    expect(fingerprint({ ...unknown, errorMessage: 'order 7 failed' }).id).toBe('8cffceef-7590-87f9-88a0-41ac5c2a3eec')
  })

  test('stays the same at other lines, addresses, ids and dates', () => {
    const ids = [trace(), trace({ line: 7 }), trace({ order: '99' }), trace({ line: 3, order: '123456' })].map(
      (stacktrace) => fingerprint(failure(stacktrace)).id,
    )
    expect(new Set(ids).size).toBe(1)
  })

  test('differs with the class and with the place', () => {
    const ids = [trace(), trace({ cause: 'com.acme.GoneException' }), trace({ method: 'cancel' })].map(
      (stacktrace) => fingerprint(failure(stacktrace)).id,
    )
    expect(new Set(ids).size).toBe(3)
  })

  test('is determined by the message where there is no stack trace', () => {
    const named = (errorClass: string | null, errorMessage: string) =>
      fingerprint({ errorClass, errorMessage, errorStacktrace: null })
    expect(named('com.acme.E', 'order 1 of "a" failed').id).toBe(named('com.acme.E', 'order 22 of "b" failed').id)
    expect(named('com.acme.E', 'order 1 failed').id).not.toBe(named('com.acme.E', 'order 1 expired').id)
    expect(named('com.acme.E', 'order 1 failed').id).not.toBe(named('com.acme.F', 'order 1 failed').id)
    expect(named(null, 'order 1 failed').id).not.toBe(named('com.acme.F', 'order 1 failed').id)
    expect(named('com.acme.E', 'order 1 failed').title).toBe('E: order <num> failed')
  })

  test('is determined by the message where the stack trace is not one', () => {
    const { location, message } = fingerprint({ ...unknown, errorMessage: 'no', errorStacktrace: 'not a trace' })
    expect({ location, message }).toEqual({ location: null, message: 'no' })
  })

  test('of a place differs from that of a message that reads like the place', () => {
    const located = fingerprint({ ...unknown, errorStacktrace: '\n\tat com.acme.A.b(A.java:1)' })
    const said = fingerprint({ ...unknown, errorMessage: 'com.acme.A.b' })
    expect(located.location).toBe(said.message)
    expect(located.id).not.toBe(said.id)
  })

  test('of failures without any text is one for all', () => {
    const group = fingerprint(unknown)
    expect(group).toMatchObject({ errorClass: null, location: null, message: '', title: 'Unknown error' })
    expect(fingerprint({ errorClass: ' ', errorMessage: '\n', errorStacktrace: '' }).id).toBe(group.id)
  })
})

describe('the class and message', () => {
  test('in the headers count for an error without cause', () => {
    const group = fingerprint({
      errorClass: 'OrderError',
      errorMessage: 'order 7',
      errorStacktrace: 'Error: something\n    at process (/app/src/orders.js:4:9)',
    })
    expect(group).toMatchObject({
      errorClass: 'OrderError',
      message: 'order <num>',
      title: 'OrderError in process (src/orders.js)',
    })
  })

  test('are taken from the stack trace where only it has them', () => {
    expect(fingerprint({ ...unknown, errorStacktrace: trace() })).toMatchObject({
      errorClass: 'com.acme.NotFoundException',
      message: 'order <num> not found since <date>',
    })
  })
})

test('a cause without a message has none, whatever the error around it says', () => {
  const errorStacktrace = 'a.Outer: order 7\n\tat somewhere\nCaused by: a.Inner\n\tat somewhere'
  const { errorClass, message } = fingerprint({ errorClass: 'a.Outer', errorMessage: 'order 7', errorStacktrace })
  expect([errorClass, message]).toEqual(['a.Inner', ''])
})

describe('for any failure', () => {
  // Pieces of traces in any order, so that readers meet text that only looks like their language.
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('\n\tat ', '\n    at ', '\n   at ', '\nCaused by: ', ' ---> ', '[cause]: ', '\n\tSuppressed: '),
    fc.constantFrom('--- End of inner exception stack trace ---', '\n  File "', '", line 3, in ', '\npanic(', '.go:1'),
    fc.constantFrom(
      'com.acme.A.b(A.java:1)',
      'f (/a/b.js:1:2)',
      'A.B() in /c.cs:line 3',
      '$$Lambda/0x1',
      '(',
      ')',
      '\0',
      '\ud800',
    ),
    fc.constantFrom(
      '\n\nThe above exception was the direct cause of the following exception:\n\n',
      'a@b:1:2',
      '\ngoroutine 1 [running]:\n',
    ),
  )
  const text = fc.option(fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')))
  const anyFailure = fc.record({ errorClass: text, errorMessage: text, errorStacktrace: text })

  test('the group is found, always the same, and PostgreSQL can store its text', () => {
    fc.assert(
      fc.property(anyFailure, (said) => {
        const group = fingerprint(said)
        expect(fingerprint({ ...said })).toEqual(group)
        expect(fingerprintId(said)).toBe(group.id)
        const texts = [group.errorClass, group.location, group.message, group.title].map((text) => text ?? '')
        expect(texts.every((text) => text.isWellFormed() && !/[\0\n]/.test(text))).toBe(true)
        expect(texts.map((text, index) => text.length <= [256, 300, 512, 160][index]!)).toEqual([
          true,
          true,
          true,
          true,
        ])
      }),
      { numRuns: 2000 },
    )
  })

  test('failures of one group have one title', () => {
    const titles = new Map<string, string>()
    fc.assert(
      fc.property(anyFailure, (said) => {
        const { id, title } = fingerprint(said)
        expect(titles.get(id) ?? title).toBe(title)
        titles.set(id, title)
      }),
    )
  })

  // All texts are read up to a bound, so a megabyte takes no longer than its first 20 KB. A pattern that backtracks
  // takes seconds or more here; the limit leaves room for a busy machine.
  const units = [
    'a',
    '1',
    '"',
    "'",
    ' ',
    '\n',
    'a1',
    '1.',
    'a.',
    '1:',
    ':',
    'a@',
    '-',
    '/',
    '(',
    '[',
    '<',
    '$',
    '\\',
    '“',
    '`\n',
  ]
  const lines = [
    '\n\tat (',
    '\n    at a (',
    '\n   at <a',
    '\n   at a[',
    '\nCaused by: ',
    ' [cause]: ',
    ' ---> ',
    '\n  File "',
    '\na@a:1',
    '\na(\n\ta.go:1',
  ]
  test.each([...units, ...lines])('a megabyte of %j takes no longer than a bounded read', (unit) => {
    const long = unit.repeat(Math.ceil(1_000_000 / unit.length))
    const prefixes = [
      '',
      '\n\tat ',
      '\n    at ',
      '  File "a", line 1\n',
      'main.go:1\n',
      '--- End of inner exception stack trace ---',
    ]
    const before = process.cpuUsage()
    for (const prefix of prefixes) {
      fingerprint({ errorClass: long, errorMessage: prefix + long, errorStacktrace: prefix + long })
    }
    // Measures our own CPU time, because others may use the machine. Quadratic growth would take minutes.
    expect(process.cpuUsage(before).user / 1000 / prefixes.length).toBeLessThan(1000)
  })
})
