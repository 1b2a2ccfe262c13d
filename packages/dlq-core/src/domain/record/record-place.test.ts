import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeKey } from './record-place.ts'

const place = fc.record({
  topic: fc.stringMatching(/^[a-zA-Z0-9._-]{1,9}$/),
  partition: fc.nat(),
  offset: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
})

test('places have the same key exactly if topic, partition and offset are the same', () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      expect(placeKey({ ...a })).toBe(placeKey(a))
      for (const other of [b, { ...a, topic: b.topic }, { ...a, partition: b.partition }, { ...a, offset: b.offset }]) {
        const isSame = other.topic === a.topic && other.partition === a.partition && other.offset === a.offset
        expect(placeKey(other) === placeKey(a)).toBe(isSame)
      }
    }),
  )
})

test('the offset is kept to its last digit', () => {
  const at = (offset: bigint) => placeKey({ topic: 'orders', partition: 3, offset })
  expect(at(2n ** 63n - 1n)).toBe('orders:3:9223372036854775807')
  expect(at(2n ** 63n - 1n)).not.toBe(at(2n ** 63n - 2n))
})
