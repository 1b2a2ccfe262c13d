import { expect, test } from 'vitest'
import { parseCommand } from './parse-command.ts'

test('a command is a verb, a topic and a length of time', () => {
  expect(parseCommand('pause orders 2h')).toEqual({ verb: 'pause', name: 'orders', duration: '2h' })
  expect(parseCommand(' Stop retries of orders.dlq.v1 for 1h30m ')).toEqual({
    verb: 'pause',
    name: 'orders.dlq.v1',
    duration: '1h30m',
  })
  expect(parseCommand('pause orders')).toEqual({ verb: 'pause', name: 'orders', duration: null })
  expect(parseCommand('resume orders')).toEqual({ verb: 'resume', name: 'orders', duration: null })
  expect(parseCommand('retry topic orders')).toEqual({ verb: 'retry', name: 'orders', duration: null })
})

test('anything else is text', () => {
  for (const text of ['', 'pause', 'orders 2h', 'pause orders until tomorrow', 'pausing orders', 'delete orders'])
    expect(parseCommand(text)).toBeNull()
})
