import { describe, expect, test } from 'vitest'
import { normaliseMessage } from './normalised-message.ts'

describe('values that differ between occurrences are replaced', () => {
  test.each([
    ['order 4711 of ada.lovelace+test@mail.acme.com', 'order <num> of <email>'],
    ['GET https://acme.com/v1/orders/77?x=[1] failed', 'GET <url> failed'],
    ['cannot open jdbc:postgresql://db:5432/orders', 'cannot open <url>'],
    ['trace 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 lost', 'trace <traceparent> lost'],
    ['key 3FA85F64-5717-4562-b3fc-2c963f66afa6', 'key <uuid>'],
    ['key 01ARZ3NDEKTSV4RRFFQ69G5FAV', 'key <uuid>'],
    ['at 2026-01-05T10:11:12.123456+01:00[Europe/Berlin]', 'at <date>'],
    ['at 2026-01-05 10:11:12,123 and on 2026-01-06', 'at <date> and on <date>'],
    ['since Mon Jan 05 10:11:12 CET 2026', 'since <date>'],
    ['started 10:11:12', 'started <date>'],
    ['refused by 10.0.0.7:5432 and 10.1.0.0/16', 'refused by <ip> and <ip>'],
    ['refused by fe80::1 and [2001:db8:0:0:0:0:2:1]:5432', 'refused by <ip> and <ip>'],
    ['refused by db-1.prod.internal:5432, localhost:9092.', 'refused by <host>, <host>.'],
    ['hash d41d8cd98f00b204e9800998ecf8427e', 'hash <hash>'],
    ['after 30000 ms, 1m30.5s, 250ms and PT5.5S', 'after <duration>, <duration>, <duration> and <duration>'],
    ['took 1.5 seconds', 'took <duration>'],
    ['at 0xc0000b4000 in com.acme.Order@1b2c3d4', 'at <hex> in com.acme.Order@<hex>'],
    ['object 65a1f0c2e4b0a1b2c3d4e5f6', 'object <hex>'],
    [`field "a b" of 'order' and \`c\` can't be read`, "field <str> of <str> and <str> can't be read"],
    ["it's the user's 'own' fault", "it's the user's <str> fault"],
    ["a 5' by 6' board", "a <num>' by <num>' board"],
    ['-1.5e10 < 1,234.56 and v=3', '<num> < <num> and v=<num>'],
    ['partition orders-3 at offset 123456789012', 'partition orders-<num> at offset <num>'],
    ['7'.repeat(300), '<num>'],
    ['customer_991 order12345 id:7', 'customer_<num> order<num> id:<num>'],
    ['  two\n\n  lines\tand\0more ', 'two lines and more'],
    ['failed\n\tat com.acme.Orders.save(Orders.java:1)', 'failed'],
  ])('%j becomes %j', (message, normalised) => {
    expect(normaliseMessage(message)).toBe(normalised)
  })
})

describe('words that distinguish errors are kept', () => {
  test.each([
    'Connection refused',
    'HTTP/1.1 503 Service Unavailable',
    'status code 404',
    'ORA-00942: table or view does not exist',
    'SQLState: 23505',
    'com.acme.OrderService.process returned null',
    'java.io.IOException thrown',
    'invalid utf8 in base64 of v2',
    'all 5xx but 12ab',
    "the users' and the orders' total",
    'deadbeef facade decade',
    'größe des Auftrags ungültig',
    'Cannot parse std::string',
  ])('%s', (message) => {
    expect(normaliseMessage(message)).toBe(message)
  })
})

test('the length of an early value does not move where a long message ends', () => {
  const message = (id: string) => `order ${id} ${'was not found anywhere at all '.repeat(100)}`
  expect(normaliseMessage(message('1'))).toBe(normaliseMessage(message('123456789012345678901234567890')))
  expect(normaliseMessage(message('1'))).toHaveLength(512)
})
