import { expect, test } from 'vitest'
import { candidateMarks, estimateText, sharesText } from './candidate-words.ts'

test('a candidate says why it is one and what speaks against it', () => {
  const said = {
    confidence: 'headers',
    family: 'spring-dlt',
    read_by: ['a', 'b', 'c'],
    cleanup_policy: 'compact',
  } as const
  expect(candidateMarks(said)).toEqual([
    'headers of spring-dlt',
    'read by a, b and others',
    'compacted: one dead letter per key',
  ])
  expect(candidateMarks({ confidence: 'weak', family: null, read_by: [], cleanup_policy: null })).toEqual([
    'its name may mean this',
  ])
})

test('an estimate says records, time and size', () => {
  expect(estimateText({ records: '0', seconds: 0, bytes: '0' })).toBe('It holds no records now.')
  expect(estimateText({ records: '7000000', seconds: 2000, bytes: '19600000000' })).toMatch(
    /^At most 7.000.000 records: about 33 minutes, and about 19.600 MB in PostgreSQL\.$/,
  )
  expect(estimateText({ records: '1', seconds: 1, bytes: '2800' })).toBe(
    'At most 1 record: about 1 second, and less than a megabyte in PostgreSQL.',
  )
})

test('shares are said in percent', () => {
  expect(sharesText({ origin: 1, group: 0.5, key: 0 })).toBe(
    '100 % name their original topic, 50 % their consumer group, 0 % have a key.',
  )
})
