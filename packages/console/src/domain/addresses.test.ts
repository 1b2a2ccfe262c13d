import { messageFilterEntries } from 'dlq-core/domain/message/message-filter.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addressWith,
  filterNames,
  filterOf,
  parseSearch,
  pinnedSearch,
  printSearch,
  requestFilter,
  unknownNames,
} from './addresses.ts'

test('what is printed into an address is read from it again, whatever the values hold', () => {
  const name = fc.stringMatching(/^[a-z_]{1,12}$/).filter((text) => text !== '__proto__')
  const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (search) => {
      expect(parseSearch(printSearch(search))).toEqual(search)
    }),
  )
})

test('an address reads like the query of the API', () => {
  expect(printSearch({ status: 'DEAD,PENDING', topic: 'orders/eu', q: 'a b', to: '' })).toBe(
    '?status=DEAD,PENDING&topic=orders/eu&q=a+b',
  )
  expect(parseSearch('?status=DEAD&status=PENDING')).toEqual({ status: 'DEAD,PENDING' })
})

test('the address of a page without a filter ends with the page', () => {
  expect(addressWith('https://dlq.example.com/console/messages?q=a#b', '')).toBe(
    'https://dlq.example.com/console/messages',
  )
  expect(addressWith('https://dlq.example.com//console/messages', '?q=b')).toBe(
    'https://dlq.example.com//console/messages?q=b',
  )
})

test('a parameter that is no filter is kept out of requests, and is named', () => {
  const search = parseSearch('?status=DEAD&foo=1&sort=oldest')
  expect(filterOf(search)).toEqual({ status: 'DEAD' })
  expect(unknownNames(search)).toEqual(['foo'])
})

test('relative times are resolved when the request is made, and other values stay as they are', () => {
  const now = new Date('2026-11-22T12:00:00Z')
  expect(requestFilter({ from: '-24h', to: '2026-11-22', q: '-5m' }, now)).toEqual({
    from: '2026-11-21T12:00:00.000Z',
    to: '2026-11-22',
    q: '-5m',
  })
})

test('a link that is copied says the same tomorrow, and keeps what else stands in the address', () => {
  const now = new Date('2026-11-22T12:00:00Z')
  const search = parseSearch('?status=DEAD&from=-24h&sort=oldest')
  expect(printSearch(pinnedSearch(search, now))).toBe('?status=DEAD&from=2026-11-21T12:00:00.000Z&sort=oldest')
  expect(pinnedSearch({ topic: 'orders' }, now)).toEqual({ topic: 'orders' })
})

test('the filter is that of the API', () => {
  expect([...filterNames].toSorted()).toEqual(Object.keys(messageFilterEntries).toSorted())
})
