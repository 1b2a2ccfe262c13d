import type { KnownReader, SeenReader } from 'dlq-core/queries/readers/reader-watch.ts'
import { expect, test } from 'vitest'
import { noRates } from './reader-rates.ts'
import { risesOf } from './verdict-counter.ts'

const of = { target_topic: 'orders', consumer_group: 'billing' }
const row = { ...of, partition: 0, committed_offset: 5n, log_start_offset: 0n, log_end_offset: 100n }
const seen = (fields: Partial<SeenReader['partitions'][number]>): SeenReader => ({
  ...{ ...of, type: 'classic', state: 'Stable', members: 1, has_commits: true, horizonMs: 1000, rates: noRates },
  partitions: [{ ...row, passed_offset: 5n, settled_offset: 0n, marks: [], is_rewound: false, gap: null, ...fields }],
})
const before = (fields: Partial<KnownReader['partitions'][number]> = {}): KnownReader => ({
  ...{ ...of, state: 'Stable', rates: noRates },
  partitions: [{ ...row, passed_offset: 5n, settled_offset: 2n, marks: [], ...fields }],
})
const shortly = (reader: SeenReader, known: KnownReader | null) =>
  risesOf(reader, known).map(({ verdict, from, to, isFirst }) => `${verdict} ${from}-${to}${isFirst ? ' first' : ''}`)

test('what a look adds is counted, and nothing twice', () => {
  expect(shortly(seen({ passed_offset: 9n, settled_offset: 4n }), before())).toEqual(['passed 5-9', 'consumed 2-4'])
  expect(shortly(seen({ settled_offset: 2n }), before())).toEqual([])
})

test('of a group that is seen for the first time, what it has read', () => {
  expect(shortly(seen({ passed_offset: 9n }), null)).toEqual(['passed 0-9 first'])
})

test('what was jumped over was not read', () => {
  const jumped = seen({ passed_offset: 9n, gap: { from_offset: 6n, to_offset: 9n } })
  expect(shortly(jumped, before())).toEqual(['passed 5-6', 'skipped 6-9'])
  const behind = seen({ passed_offset: 9n, gap: { from_offset: 5n, to_offset: 7n } })
  expect(shortly(behind, before())).toEqual(['passed 7-9', 'skipped 5-7'])
})

test('what retention deleted before it was read has expired, once', () => {
  expect(shortly(seen({ settled_offset: 2n, log_start_offset: 8n }), before())).toEqual(['expired 5-8'])
  expect(shortly(seen({ settled_offset: 2n, log_start_offset: 9n }), before({ log_start_offset: 8n }))).toEqual([
    'expired 8-9',
  ])
})

test('a topic that was made anew begins again', () => {
  expect(shortly(seen({ log_end_offset: 3n, passed_offset: 2n }), before())).toEqual(['passed 0-2'])
})
