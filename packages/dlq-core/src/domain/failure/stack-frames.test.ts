import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  errorMark,
  framesId,
  framesMark,
  type RowError,
  splitFrames,
  storedTrace,
  withoutError,
} from './stack-frames.ts'

/** A row that names no error. */
const none = { error_class: null, error_message: 'unknown error' }

/** As a row has it that names this error. */
function splitTrace(trace: string, error: RowError) {
  const split = splitFrames(trace)
  if (split === null) return null
  const { own, frames } = withoutError(split, error)
  return { own: storedTrace(own), frames }
}

/** The trace that was split, put together as dlq.stack_trace does. A stored text that does not fit the frames is whole. */
function joinTrace(stored: string, frames: readonly string[], { error_class, error_message }: RowError): string {
  const lines = stored.split(framesMark)
  if (lines.length !== frames.length + 1) return stored
  const error = () => `${error_class}: ${error_message}`
  return lines.map((line, index) => line + (frames[index] ?? '').replace(errorMark, error)).join('')
}

const javaFrames = Array.from(
  { length: 12 },
  (_, at) => `\tat com.example.orders.OrderService.step${at}(OrderService.java:${at})\n`,
).join('')
const java = (order: string) =>
  `org.example.ListenerFailed: Listener threw exception\n${javaFrames}\tSuppressed: org.example.Restored: ${order}\n\t${javaFrames}` +
  `Caused by: com.example.OutOfStock: no stock for ${order}\n${javaFrames}\t... 10 more\n`

describe('a split trace', () => {
  test('keeps the lines with messages, and a mark for each run of frames', () => {
    expect(splitTrace(java('order-1'), none)!.own).toBe(
      'org.example.ListenerFailed: Listener threw exception\n\t⋮\n' +
        '\tSuppressed: org.example.Restored: order-1\n\t⋮\n' +
        'no stock for order-1\n\t⋮\n',
    )
  })

  test('keeps the line of a cause whose class is no name, or follows no frames', () => {
    const said = (line: string) =>
      splitTrace(`a.B: no\n${javaFrames}${line}\n${javaFrames}`, none)!.own.split(framesMark)[1]
    expect(said('Caused by: com.example.OutOfStock: a: b')).toBe('a: b\n')
    for (const line of [
      'Caused by: 4111 1111: no',
      'Caused by: nothing: no',
      'Caused by: a.B',
      `Caused by: ${'a.'.repeat(300)}B: no`,
    ])
      expect(said(line)).toBe(`${line}\n`)
    expect(splitTrace(`Caused by: a.B: no\n${javaFrames}`, none)!.own).toBe(`Caused by: a.B: no\n${framesMark}`)
  })

  test('has the frames of every other trace that differs in messages only', () => {
    const [one, other] = [splitTrace(java('order-1'), none)!, splitTrace(java('order-2'), none)!]
    expect(other.own).not.toBe(one.own)
    expect(framesId(other.frames)).toBe(framesId(one.frames))
  })

  test.each([
    [
      '.NET',
      '   at Acme.Orders.Take(Order order) in /src/Orders.cs:line 42\n',
      '   --- End of inner exception stack trace ---\n',
    ],
    ['JavaScript', '    at take (file:///app/src/orders.js:10:5)\n', '    at async run (file:///app/src/run.js:1:2)'],
    ['Python', '  File "/app/orders.py", line 10, in take\n    stock = warehouse.take(order)\n', '    ~~~~~~^^^^\n'],
  ])('of %s leaves nothing but the messages', (_, frame, last) => {
    const { own } = splitTrace(`Error: no stock\n${frame.repeat(20)}${last.startsWith('    ~') ? '' : last}`, none)!
    expect(own).toBe(`Error: no stock\n${framesMark}`)
  })

  test.each([
    ['that is short', 'Error: no\n    at take (a.js:1:2)\n'],
    ['without frames', 'Error: no\n'.repeat(200)],
    ['that has a mark already', java(`order-1\n${framesMark}`)],
    ['that has the mark of an error already', java('order-⋮⋮')],
    ['that ends in a mark’s beginning', `Error: \t⋮\n${javaFrames}`],
    ['with too many frames', `Error: no\n${'    at take (file:///app/src/orders.js:10:5)\n'.repeat(2000)}`],
    ['whose frames are all interrupted', `Error: no\n${`${javaFrames}Caused by: x\n`.repeat(70)}`],
  ])('is none for one %s', (_, trace) => {
    expect(splitTrace(trace, none)).toBeNull()
  })

  test('gives back the trace exactly, whatever it is', () => {
    const line = fc.oneof(
      fc.constantFrom(
        javaFrames,
        '\t... 3 more',
        '\n',
        '\r\n',
        '\t⋮',
        framesMark,
        '  File "x", line 1\n',
        '    y\n',
        ' at ',
      ),
      fc.string(),
      fc.string({ unit: 'binary' }),
    )
    let split = 0
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const trace = lines.join('')
        const found = splitTrace(trace, none)
        if (found !== null) {
          split++
          expect(joinTrace(found.own, found.frames, none)).toBe(trace)
        }
      }),
      { numRuns: 500 },
    )
    expect(split).toBeGreaterThan(20)
  })

  test('has no line of the error that its row names', () => {
    const row = (order: string) => ({ error_class: 'com.example.OutOfStock', error_message: `no stock for ${order}` })
    const [one, other] = ['order-1', 'order-$&'].map((order) => splitTrace(java(order), row(order))!)
    expect(one!.own).toBe(
      'org.example.ListenerFailed: Listener threw exception\n\t⋮\n\tSuppressed: org.example.Restored: order-1\n\t⋮\n',
    )
    expect(framesId(one!.frames)).toBe(framesId(other!.frames))
    const bare = { error_class: 'Timeout', error_message: 'no' }
    const timedOut = `a.B: no\n${javaFrames}Caused by: Timeout: no\n${javaFrames}`
    expect(splitTrace(timedOut, bare)!.own).toBe(`a.B: no\n${framesMark}`)
    expect(joinTrace(framesMark, splitTrace(timedOut, bare)!.frames, bare)).toBe(timedOut.slice('a.B: no\n'.length))
    expect(joinTrace(other!.own, other!.frames, row('order-$&'))).toBe(java('order-$&'))
    expect(splitTrace(java('order-1'), row('order-2'))).toEqual(splitTrace(java('order-1'), none))
  })

  test('gives back its class also where another row with the same frames has another error', () => {
    const { own, frames } = splitFrames(`a.B: no\n${javaFrames}Caused by: a.B: Caused by: Timeout: no\n${javaFrames}`)!
    const rows = [
      { message: 'Caused by: Timeout: no\n', error: { error_class: 'Timeout', error_message: 'no' } },
      { message: 'gone\n', error: { error_class: 'a.B', error_message: 'gone' } },
    ]
    for (const { message, error } of rows) {
      const split = withoutError({ own: [own[0]!, message, own[2]!], frames }, error)
      expect(joinTrace(storedTrace(split.own), split.frames, error)).toBe(
        `a.B: no\n${javaFrames}Caused by: a.B: ${message}${javaFrames}`,
      )
    }
  })

  test('has no line of Spring’s that says only which listener failed', () => {
    const failed = (line: string) =>
      splitTrace(`org.springframework.kafka.listener.ListenerExecutionFailedException: ${line}\n${javaFrames}`, none)!
        .own
    expect(failed("Listener method 'public void a.B.on(c.D<byte[]>)' threw exception")).toBe(framesMark)
    for (const line of [
      "Listener method 'a' of 'b' threw exception",
      'Listener failed',
      "Listener method 'a' threw exception: 7",
    ])
      expect(failed(line)).toContain(line)
  })

  test('is left alone where somebody has written another text since', () => {
    const { frames } = splitTrace(java('order-1'), none)!
    expect(joinTrace('another', frames, none)).toBe('another')
  })
})
