import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprint, fingerprintId } from '../grouping/error-fingerprint.ts'
import { knownFingerprintId } from '../grouping/known-fingerprint.ts'
import { type DeadLetter, readDeadLetter } from '../message/new-message.ts'
import { writtenText } from '../record/header-json.ts'
import { defaultRetryPolicy } from '../retry/retry-policy.ts'
import { abridgedTrace, createKnownTraces } from './known-traces.ts'
import { splitFrames } from './stack-frames.ts'
import { failureOf } from './stored-failure.ts'

const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: [] }
const listenerFailed = 'org.springframework.kafka.listener.ListenerExecutionFailedException'

function frames(type: string, count: number): string {
  return Array.from(
    { length: count },
    (_, at) => `\tat ${type}.step${at}(${type.split('.').at(-1)}.java:${at})\n`,
  ).join('')
}

function dotnet(type: string): string {
  return Array.from({ length: 20 }, (_, at) => `   at ${type}.Step${at}() in /src/${type}.cs:line ${at}\n`).join('')
}

/** As Java writes it: a library's frames, then some of the application, with a cause and what was suppressed. */
const traceOf = (message: string, { place = 'Orders', cause = 'com.example.OutOfStock', depth = 12 } = {}) =>
  `${listenerFailed}: Listener method 'void com.example.Listener.on(Record)' threw exception\n` +
  frames('org.springframework.kafka.Invoker', 8) +
  `\tSuppressed: ${listenerFailed}: Restored Stack Trace\n\t${frames('org.springframework.kafka.Adapter', 3)}` +
  `Caused by: ${cause}: ${message}\n${frames('java.util.Optional', 3)}${frames(`com.example.${place}`, depth)}\t... 10 more\n` +
  `Caused by: java.io.IOException: ${message}\n${frames('com.example.http.Client', 4)}\t... 26 more\n`

function known(...traces: string[]) {
  const known = createKnownTraces()
  for (const trace of traces) known.learn(trace, splitFrames(trace)!)
  return known
}

const letterOf = (trace: string, traces?: ReturnType<typeof createKnownTraces>) =>
  readDeadLetter(
    {
      ...{
        cluster: 'c',
        topic: 'orders.dlq.v1',
        partition: 0,
        offset: 1n,
        timestamp: 2n,
        key: null,
        value: Buffer.from('{}'),
      },
      headers: [
        ['kafka_dlt-original-topic', Buffer.from('orders')],
        ['kafka_dlt-exception-fqcn', Buffer.from(listenerFailed)],
        ['kafka_dlt-exception-cause-fqcn', Buffer.from('com.example.OutOfStock')],
        ['kafka_dlt-exception-message', Buffer.from('Listener failed; no stock')],
        ['kafka_dlt-exception-stacktrace', Buffer.from(trace)],
      ],
    },
    { ...settings, ...(traces && { traces }) },
    new Date(0),
    0,
  )

/** What both ways of reading must agree on: all but the recognised trace. Headers as their text. */
const readOf = ({ message, ...others }: DeadLetter) => ({
  ...others,
  message: { ...message, record_headers: writtenText(message.record_headers!) },
  trace: null,
})

describe('a trace with known frames', () => {
  const traces = known(traceOf('no stock for 1'), traceOf('no stock for 1', { place: 'Refunds' }))

  test('is told by its bytes, with the lines that are its own', () => {
    for (const place of ['Orders', 'Refunds', 'Orders']) {
      const trace = traceOf('für größe 4711 fehlt Ware', { place })
      const found = traces.recognise(Buffer.from(trace))!
      expect({ own: found.own, frames: found.frames, whole: found.whole }).toEqual({
        ...splitFrames(trace),
        whole: trace,
      })
      expect(abridgedTrace(found).length).toBeLessThan(trace.length / 2)
    }
  })

  test('makes the same row and group as one that is read whole', () => {
    for (const message of ['no stock for 2', 'a\nmessage of\ntwo lines', '', ': ', 'x'.repeat(1000)]) {
      const [quick, slow] = [letterOf(traceOf(message), traces), letterOf(traceOf(message))]
      expect(quick.trace, message).not.toBeNull()
      expect(readOf(quick)).toEqual(readOf(slow))
      const { message: row, trace } = quick
      expect(fingerprint(failureOf({ ...row, error_stacktrace: abridgedTrace(trace!) }))).toEqual(
        fingerprint(failureOf(slow.message)),
      )
    }
  })

  test.each([
    'no stock for 3',
    '',
    'of two\nlines',
    'x\nCaused by: a.B: c',
    'x [cause]: a.B: c',
    'x --- End of inner exception stack trace ---',
    'x\r',
    'x\u2028y',
  ])('is of the same group as one that is read whole, with the message %j', (message) => {
    for (const said of ['no stock for 2', message]) {
      const trace = traces.recognise(Buffer.from(traceOf(said)))!
      const named = { errorClass: 'com.example.OutOfStock', errorMessage: said }
      expect(knownFingerprintId(named, trace)).toBe(fingerprintId({ ...named, errorStacktrace: trace.whole }))
    }
  })

  test.each([
    ['other frames', traceOf('no', { depth: 13 })],
    ['another end', `${traceOf('no')}\n`],
    ['frames among its messages', traceOf('no\n\tat com.example.Orders.step(Orders.java:1)')],
    ['a mark among its messages', traceOf('no\n\t⋮')],
    ['a NUL', traceOf('no\0')],
    ['a message of 5 KB', traceOf('x'.repeat(5000))],
    ['a hundred lines of message', traceOf('x\n'.repeat(100))],
    ['17 KB', traceOf('x', { depth: 17 * 30 })],
  ])('is none with %s: it is read whole', (_, trace) => {
    expect(traces.recognise(Buffer.from(trace))).toBeNull()
    expect(readOf(letterOf(trace, traces))).toEqual(readOf(letterOf(trace)))
  })

  test('is none where its bytes are no text', () => {
    const [before, after] = traceOf('⚡').split('⚡', 2)
    const broken = Buffer.concat([
      Buffer.from(before!),
      Buffer.from([0xff]),
      Buffer.from(after!),
      Buffer.from(traceOf('x').slice(-600)),
    ])
    expect(traces.recognise(broken)).toBeNull()
  })

  test.each([
    ['that ends in a message', `${traceOf('no')}at the end\n`],
    // Its frames count as parts of a message there (error-of.ts).
    [
      'of .NET',
      `A.E: no ---> B.F: why\n${dotnet('A.B')}   --- End of inner exception stack trace ---\n${dotnet('C.D')}`,
    ],
  ])('is not learnt of one %s', (_, trace) => {
    expect(known(trace).recognise(Buffer.from(trace))).toBeNull()
  })

  test('of Python is read as one that is read whole', () => {
    const trace = `Traceback:\n${'  File "/app/a.py", line 10, in take\n    take()\n'.repeat(30)}`
    const quick = letterOf(trace, known(trace))
    expect(quick.trace).not.toBeNull()
    expect(readOf(quick)).toEqual(readOf(letterOf(trace)))
  })
})

test('whatever a trace is, it is read as one that is read whole', () => {
  const traces = known(
    ...[traceOf('no stock for 1'), traceOf('no', { place: 'Refunds' }), traceOf('no', { depth: 3 })],
    // Among whose frames there is no class of the cause.
    traceOf('no', { cause: 'Timeout' }),
  )
  const parts = traceOf('MESSAGE').split(/(?<=\n)/)
  const line = fc.oneof(
    fc.constantFrom(
      ...parts,
      'Caused by: ',
      'Caused by: a.B: ',
      'Caused by: a.B: c\n',
      '\n',
      '\tat ',
      '\t⋮\n',
      'caused by: a.B: c\n',
      ' [cause]: x\n',
      '\0',
    ),
    fc.string({ unit: 'binary', maxLength: 10 }),
  )
  const changed = fc.tuple(fc.nat({ max: parts.length }), fc.nat({ max: 2 }), fc.array(line, { maxLength: 3 }))
  let recognised = 0
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.array(changed, { maxLength: 2 }),
      (message, changes) => {
        const lines = parts.map((part) => part.replaceAll('MESSAGE', () => message))
        for (const [at, left, more] of changes) lines.splice(at, left, ...more)
        const trace = lines.join('')
        const quick = letterOf(trace, traces)
        if (quick.trace !== null) recognised++
        const slow = letterOf(trace)
        expect(readOf(quick)).toEqual(readOf(slow))
        const read =
          quick.trace === null ? quick.message : { ...quick.message, error_stacktrace: abridgedTrace(quick.trace) }
        expect(fingerprint(failureOf(read))).toEqual(fingerprint(failureOf(slow.message)))
        if (quick.trace === null) return
        expect(splitFrames(trace)).toEqual({ own: quick.trace.own, frames: quick.trace.frames })
        for (const failure of [failureOf(slow.message), { ...failureOf(slow.message), errorClass: 'a.B' }])
          expect(knownFingerprintId({ ...failure, errorClass: failure.errorClass! }, quick.trace)).toBe(
            fingerprintId(failure),
          )
      },
    ),
    { numRuns: 2000 },
  )
  expect(recognised).toBeGreaterThan(200)
})
