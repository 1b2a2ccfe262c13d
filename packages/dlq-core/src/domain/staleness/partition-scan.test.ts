// One walk through a partition, record by record; services/retrier has the same with Kafka.

import { expect, test } from 'vitest'
import {
  createPartitionScan,
  keyText,
  type OpenMessage,
  type PartitionScan,
  type ScannedRecord,
  type ScanOptions,
} from './partition-scan.ts'

const keyOf = (text: string) => Buffer.from(text)
/** A message whose record stood at the offset; what is behind it was not read so far. */
const open = (id: string, offset: number, more: Partial<OpenMessage> = {}): OpenMessage => ({
  ...{ id, offset: BigInt(offset), start: BigInt(offset) + 1n, key: keyText(keyOf('a')), isTombstone: false },
  ...more,
})
const record = (offset: number, key: string | null, more: Partial<ScannedRecord> = {}): ScannedRecord => ({
  ...{ offset: BigInt(offset), key: key === null ? null : keyOf(key), timestamp: offset * 1000, republished: null },
  ...more,
})
const scanOf = (messages: OpenMessage[], more: Partial<ScanOptions> = {}) =>
  createPartitionScan(messages, { maxBytes: 1000, isCompacted: false, isOld: () => false, ...more })
/** Takes records that one fetch has returned. */
const take = (scan: PartitionScan, nextOffset: number, records: ScannedRecord[] = [], bytes = 1) =>
  scan.take({ records, nextOffset: BigInt(nextOffset), bytes })
const answersOf = (scan: PartitionScan) =>
  scan.decided().map(({ id, answer, reason, newer_offset: at }) => [id, answer, reason ?? at])
const coveredOf = (scan: PartitionScan) => scan.covered().map(({ id }) => id)

test('a later record of its key supersedes a message; others, those without a key and earlier ones do not', () => {
  const scan = scanOf([open('first', 2), open('second', 5), open('other', 3, { key: keyText(keyOf('b')) })])
  take(scan, 8, [record(3, 'b'), record(4, null), record(5, 'a'), record(6, 'c')])
  expect(scan.decided()).toEqual([
    { id: 'first', answer: 'superseded', reason: null, newer_offset: 5n, newer_at: new Date(5000) },
  ])
  expect(scan.decided()).toEqual([])
  expect(coveredOf(scan)).toEqual(['other', 'second'])
  take(scan, 9, [record(8, 'a')])
  expect(answersOf(scan)).toEqual([['second', 'superseded', 8n]])
})

test('a record that was sent again for the message or an older one is not newer', () => {
  const isOld: ScanOptions['isOld'] = ({ republished }, { id }) => republished === id
  const scan = scanOf([open('mine', 2)], { isOld })
  take(scan, 5, [record(3, 'a', { republished: 'mine' })])
  expect([answersOf(scan), coveredOf(scan)]).toEqual([[], ['mine']])
  take(scan, 6, [record(5, 'a', { republished: 'another' })])
  expect(answersOf(scan)).toEqual([['mine', 'superseded', 5n]])
})

test('it reads from the first place that one asks for, and jumps over what none does', () => {
  const scan = scanOf([open('far', 100), open('near', 7)])
  expect(scan.position()).toBe(8n)
  expect(['a', 'b'].map((key) => scan.wants(keyText(keyOf(key))))).toEqual([true, false])
  take(scan, 10, [record(9, 'a')])
  expect([answersOf(scan), scan.position()]).toEqual([[['near', 'superseded', 9n]], 101n])
  take(scan, 102, [record(101, 'a')])
  expect([answersOf(scan), scan.position()]).toEqual([[['far', 'superseded', 101n]], null])
  expect(scanOf([]).position()).toBeNull()
})

test('of one message no more is read than the bound, and of the next ones as much again', () => {
  const scan = scanOf([open('first', 1), open('second', 4)], { maxBytes: 10 })
  take(scan, 5, [], 10)
  expect(answersOf(scan)).toEqual([])
  take(scan, 6, [], 1)
  expect([answersOf(scan), coveredOf(scan)]).toEqual([[['first', 'unknown', 'beyond_bound']], ['second']])
  take(scan, 7, [], 10)
  expect([answersOf(scan), scan.position()]).toEqual([[['second', 'unknown', 'beyond_bound']], null])
})

test('where compaction has taken its own record, a newer one was written; a deletion goes by itself', () => {
  const own = (id: string, offset: number, more: Partial<OpenMessage> = {}) =>
    open(id, offset, { start: BigInt(offset), ...more })
  const messages = [own('there', 2), own('taken', 3), own('deletion', 4, { isTombstone: true }), own('behind', 9)]
  const scan = scanOf(messages, { isCompacted: true })
  take(scan, 9, [record(2, 'a')])
  expect(answersOf(scan)).toEqual([
    ['taken', 'superseded', null],
    ['deletion', 'unknown', 'retention'],
  ])
  expect(coveredOf(scan)).toEqual(['there', 'behind'])

  const unknown = scanOf(messages.slice(0, 2), { isCompacted: null })
  take(unknown, 9, [record(2, 'a')])
  expect(answersOf(unknown)).toEqual([['taken', 'unknown', 'not_allowed']])
  // A record that was sent again is not its own.
  const again = scanOf([own('taken', 3)], { isCompacted: true, isOld: () => true })
  take(again, 9, [record(5, 'a')])
  expect(answersOf(again)).toEqual([['taken', 'superseded', null]])
  // Read further than its own record before: that was there.
  const before = scanOf([open('before', 2)], { isCompacted: true })
  take(before, 9)
  expect(coveredOf(before)).toEqual(['before'])
})

test('what cannot be decoded may hold any key: nothing is known of messages before its end', () => {
  const other = open('other', 1, { key: keyText(keyOf('b')) })
  const scan = scanOf([other, open('before', 1), open('within', 4), open('after', 6)])
  take(scan, 8, [record(3, 'b'), record(5, null, { isUndecodable: true })])
  expect(answersOf(scan)).toEqual([
    // Known before.
    ['other', 'superseded', 3n],
    ['before', 'unknown', 'undecodable'],
    ['within', 'unknown', 'undecodable'],
  ])
  expect(coveredOf(scan)).toEqual(['after'])
})

test('keys are compared byte by byte, and long ones by their digest', () => {
  const long = 'k'.repeat(64)
  expect(keyText(keyOf(long))).toBe(`=${long}`)
  expect(keyText(keyOf(`${long}1`))).toMatch(/^#.{44}$/)
  expect(keyText(keyOf(`${long}1`))).not.toBe(keyText(keyOf(`${long}2`)))
  expect(keyText(Buffer.from([0xff]))).not.toBe(keyText(Buffer.from([0xfe])))
})
