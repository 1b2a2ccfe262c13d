import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { framesId, framesMark, joinTrace, splitTrace } from './stack-frames.ts'

const javaFrames = Array.from(
  { length: 12 },
  (_, at) => `\tat com.example.orders.OrderService.step${at}(OrderService.java:${at})\n`,
).join('')
const java = (order: string) =>
  `org.example.ListenerFailed: Listener threw exception\n${javaFrames}\tSuppressed: org.example.Restored: ${order}\n\t${javaFrames}` +
  `Caused by: com.example.OutOfStock: no stock for ${order}\n${javaFrames}\t... 10 more\n`

describe('a split trace', () => {
  test('keeps the lines with messages, and a mark for each run of frames', () => {
    expect(splitTrace(java('order-1'))!.own).toBe(
      'org.example.ListenerFailed: Listener threw exception\n\t⋮\n' +
        '\tSuppressed: org.example.Restored: order-1\n\t⋮\n' +
        'Caused by: com.example.OutOfStock: no stock for order-1\n\t⋮\n',
    )
  })

  test('has the frames of every other trace that differs in messages only', () => {
    const [one, other] = [splitTrace(java('order-1'))!, splitTrace(java('order-2'))!]
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
    const { own } = splitTrace(`Error: no stock\n${frame.repeat(20)}${last.startsWith('    ~') ? '' : last}`)!
    expect(own).toBe(`Error: no stock\n${framesMark}`)
  })

  test.each([
    ['that is short', 'Error: no\n    at take (a.js:1:2)\n'],
    ['without frames', 'Error: no\n'.repeat(200)],
    ['that has a mark already', java(`order-1\n${framesMark}`)],
    ['that ends in a mark’s beginning', `Error: \t⋮\n${javaFrames}`],
    ['with too many frames', `Error: no\n${'    at take (file:///app/src/orders.js:10:5)\n'.repeat(2000)}`],
    ['whose frames are all interrupted', `Error: no\n${`${javaFrames}Caused by: x\n`.repeat(70)}`],
  ])('is none for one %s', (_, trace) => {
    expect(splitTrace(trace)).toBeNull()
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
        const found = splitTrace(trace)
        if (found !== null) {
          split++
          expect(joinTrace(found)).toBe(trace)
        }
      }),
      { numRuns: 500 },
    )
    expect(split).toBeGreaterThan(20)
  })

  test('is left alone where somebody has written another text since', () => {
    const { frames } = splitTrace(java('order-1'))!
    expect(joinTrace({ own: 'another', frames })).toBe('another')
  })
})
