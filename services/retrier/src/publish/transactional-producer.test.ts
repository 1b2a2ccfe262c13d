import { expect, test } from 'vitest'
import type { Outgoing } from './outgoing.ts'
import { toSent } from './transactional-producer.ts'

const record = (id: string, topic: string, partition: number): Outgoing => ({
  ...{ id, topic, partition, key: null, value: null, headers: [], timestamp: undefined },
  ...{ maxBatchBytes: 1_000_000, isDoubtful: false },
})
const answer = (topicName: string, partition: number, baseOffset: string) => ({
  ...{ topicName, partition, baseOffset, errorCode: 0 },
})

test('the records of a partition follow its base offset in their order', () => {
  const records = [record('a', 'x', 0), record('b', 'x', 1), record('c', 'x', 0), record('d', 'y', 0)]
  const sent = toSent(records, [answer('x', 1, '70'), answer('x', 0, '5'), answer('y', 0, '-1')])
  expect(sent.map(({ id, offset }) => [id, offset])).toEqual([
    ['a', 5n],
    ['b', 70n],
    ['c', 6n],
    ['d', null],
  ])
})

test('a record does not count as sent if Kafka did not answer for its partition', () => {
  expect(() => toSent([record('a', 'x', 0), record('b', 'x', 1)], [answer('x', 0, '5')])).toThrow(
    'no answer for partition 1',
  )
  expect(() => toSent([record('a', 'x', 0)], [])).toThrow('no answer')
})
