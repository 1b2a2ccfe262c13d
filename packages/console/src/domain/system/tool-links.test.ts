import { describe, expect, test } from 'vitest'
import { addressIn, placeOfFrame, ticketParts, valuesOf } from './tool-links.ts'

test('a template is filled in with what is known, which changes nothing else of the address', () => {
  const values = { topic: 'orders/eu?x=#1', offset: '12', trace_id: null }
  expect(addressIn('https://logs.example.com/?q={topic}+{offset}', values)).toBe(
    'https://logs.example.com/?q=orders%2Feu%3Fx%3D%231+12',
  )
  for (const template of ['https://a.example/{trace_id}', 'https://a.example/{nobody}/{toString}', null, undefined])
    expect(addressIn(template, values)).toBeNull()
})

describe('the trace of a message', () => {
  const traceOf = (headers: [string, string | null][]) =>
    valuesOf({
      original: {},
      headers: headers.map(([name, value]) => ({ name, value, encoding: 'text' })),
    } as never).trace_id
  const id = '4bf92f3577b34da6a3ce929d0e0e4736'

  test.each([
    ['traceparent', `00-${id}-00f067aa0ba902b7-01`],
    ['X-B3-TraceId', id],
    ['b3', `${id}-00f067aa0ba902b7-1`],
  ])('is in the header %s', (name, value) => {
    expect(
      traceOf([
        ['traceparent', 'none'],
        [name, value],
        ['x', null],
      ]),
    ).toBe(id)
  })

  test('is not known where a mask hides it', () => {
    expect(traceOf([['traceparent', '•••']])).toBeNull()
  })
})

test.each([
  ['at com.example.Orders.take(Orders.java:12)', 'Orders.java', '12'],
  ['at take (file:///srv/app/take-payment.ts:24:31)', 'take-payment.ts', '24'],
  ['File "/srv/app/orders.py", line 7, in take', 'orders.py', '7'],
  ['/srv/app/orders.go:33 +0x1d', 'orders.go', '33'],
  ['at Shop.Orders.Take() in C:\\app\\Orders.cs:line 9', 'Orders.cs', '9'],
])('the place of the frame %s', (frame, file, line) => {
  expect(placeOfFrame(frame)).toEqual({ file, line })
})

test('a frame without a line has no place', () => {
  expect(placeOfFrame('at jdk.internal.Reflect.invoke(Native Method)')).toBeNull()
})

test.each(['a', 'a.', 'a:', '.a:1'])('a frame of 64 KiB of "%s" takes no time', (text) => {
  const began = performance.now()
  placeOfFrame(text.repeat(65_536 / text.length))
  expect(performance.now() - began).toBeLessThan(1000)
})

test('tickets in a text', () => {
  const tickets = (text: string) => ticketParts(text).flatMap(({ text, isTicket }) => (isTicket ? [text] : []))
  expect(tickets('OPS-4711: deployed, see PAY2-1 and (X1-9)')).toEqual(['OPS-4711', 'PAY2-1', 'X1-9'])
  expect(tickets('ops-1 A-1 UTF-8x COVID-019')).toEqual([])
  expect(
    ticketParts('for OPS-1')
      .map(({ text }) => text)
      .join(''),
  ).toBe('for OPS-1')
})
