import { describe, expect, test } from 'vitest'
import { type Copy, compareOrigin, type OriginalRecord } from './compare-origin.ts'

const bytes = (text: string) => Buffer.from(text)
const original: OriginalRecord = {
  key: bytes('k'),
  value: bytes('{"a": 1}'),
  headers: [['x', bytes('1')]],
  timestamp: 1000n,
}
const copy: Copy = { ...original, family: 'spring-dlt', timestamp: 5000n, originalTimestamp: 1000n }
const compare = (changes: Partial<Copy>, others: Partial<OriginalRecord> = {}) =>
  compareOrigin({ ...copy, ...changes }, { ...original, ...others })

describe('the record at the original place', () => {
  test.each<[string, Partial<Copy>, Partial<OriginalRecord>, string, string[]]>([
    ['is the same', {}, {}, 'same', []],
    ['has another value', { value: bytes('{"a":1}') }, {}, 'different', ['value']],
    ['has a value that the copy lost', { value: null }, {}, 'different', ['value']],
    ['has another header', { headers: [['x', bytes('2')]] }, {}, 'different', ['headers']],
    [
      'has its headers in another order',
      {
        headers: [
          ['y', null],
          ['x', bytes('1')],
        ],
      },
      {
        headers: [
          ['x', bytes('1')],
          ['y', null],
        ],
      },
      'different',
      ['headers'],
    ],
    ['has neither the key nor the value', { key: bytes('j'), value: null }, {}, 'unproved', ['key', 'value']],
    ['was written later than the dead letter', { originalTimestamp: null }, { timestamp: 5001n }, 'mismatch', []],
    ['has another time than the headers say', {}, { timestamp: 999n }, 'mismatch', []],
    ['has another time than the copy kept', { family: 'kafka-connect', originalTimestamp: null }, {}, 'mismatch', []],
    [
      'has the time that the copy kept',
      { family: 'kafka-streams', originalTimestamp: null, timestamp: 1000n },
      {},
      'same',
      [],
    ],
    ['is the same, though nothing says when it was written', { originalTimestamp: null }, {}, 'same', []],
    [
      'has another value, and nothing says when it was written',
      { originalTimestamp: null, value: null },
      {},
      'unproved',
      ['value'],
    ],
  ])('%s', (_, changes, others, state, differs) => {
    expect(compare(changes, others)).toEqual({ state, differs })
  })

  test('is not told apart by the headers of the failure, or by ours', () => {
    const failure: Copy['headers'] = [['kafka_dlt-original-offset', bytes('7')]]
    expect(compare({ headers: [...copy.headers, ...failure] }).state).toBe('same')
    expect(compare({}, { headers: [...original.headers, ['dlq-message-id', bytes('1')]] }).state).toBe('same')
  })
})
