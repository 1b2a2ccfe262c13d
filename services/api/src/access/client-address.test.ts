import { expect, test } from 'vitest'
import { createClientAddress } from './client-address.ts'

const addressOf = createClientAddress(['10.0.0.0/8', '192.0.2.1', '2001:db8:1::/48'])

test.each([
  ['nobody in between', '203.0.113.9', undefined, '203.0.113.9'],
  ['who is no proxy of ours may write what they like', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a trusted proxy', '10.0.0.5', '198.51.100.1', '198.51.100.1'],
  ['two of them', '192.0.2.1', '198.51.100.1, 10.1.2.3', '198.51.100.1'],
  ['what the client invented before', '10.0.0.5', '127.0.0.1, 198.51.100.1', '198.51.100.1'],
  ['a proxy that says nothing', '10.0.0.5', undefined, '10.0.0.5'],
  ['a proxy that writes no address', '10.0.0.5', '198.51.100.1, unknown', '10.0.0.5'],
  ['IPv4 as IPv6', '::ffff:10.0.0.5', '198.51.100.1', '198.51.100.1'],
  ['IPv6', '2001:db8:1::7', '2001:db8:9::1', '2001:db8:9::1'],
  ['with ports', '10.0.0.5', '[2001:db8:9::1]:443, 10.0.0.7:80', '2001:db8:9::1'],
  ['a neighbour of the trusted address', '192.0.2.2', '198.51.100.1', '192.0.2.2'],
])('%s', (_, remote, forwardedFor, client) => {
  expect(addressOf({ remote, forwardedFor })).toBe(client)
})

test('where no proxy is trusted, the header counts for nothing', () => {
  expect(createClientAddress([])({ remote: '10.0.0.5', forwardedFor: '198.51.100.1' })).toBe('10.0.0.5')
})
