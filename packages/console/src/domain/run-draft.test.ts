import { changeProblems } from 'dlq-core/domain/message/change-value.ts'
import { expect, test } from 'vitest'
import type { Search } from './addresses.ts'
import {
  canaryOf,
  eligibleWords,
  exactDiffs,
  ineligibleWords,
  isNumberTyped,
  meantWords,
  mustType,
  readDraft,
  requestText,
  roleOfKind,
  runRequest,
  searchOfSelection,
  selectionWords,
  startWords,
} from './run-draft.ts'

const draftOf = (search: Search) => readDraft(search, new Date('2026-11-22T12:00:00Z'))
const draft = draftOf({ kind: 'retry', group: 'g1' })
const exactly = (value: number) => ({ value, relation: 'eq' as const })
const given = { reason: '', all: false, eligible: 343, matched: exactly(343) }

test('a draft asks for exactly the number that its button showed', () => {
  expect(runRequest(draft, { ...given, reason: 'the network is back' })).toEqual({
    kind: 'retry',
    selection: { group: 'g1' },
    reason: 'the network is back',
    expect_count: 343,
    expect_tolerance: '10%',
    // biome-ignore lint/suspicious/noThenProperty: the name that the API gives it; nobody awaits it
    canary: { first: 1, then: '1%', wait: '60s', max_refailure: '5%' },
    on_refailure: 'pause',
  })
})

test('more messages than are counted are started without a number, and the button says so', () => {
  const matched = { value: 1_000_000, relation: 'gte' as const }
  const request = runRequest(draft, { ...given, matched })
  expect(request).toMatchObject({ kind: 'retry', on_refailure: 'pause' })
  for (const name of ['expect_count', 'expect_tolerance', 'dry_run']) expect(request).not.toHaveProperty(name)
  expect(startWords('retry', matched, ['orders'], false)).toBe('Retry ≥ 1,000,000 messages to orders')
})

test('relative times of a list are moments in its draft, because a selection is frozen', () => {
  const { selection } = draftOf({ kind: 'retry', topic: 'orders', from: '-24h', failed_to: '-10m', q: '-5m' })
  expect(selection).toEqual({
    filter: { topic: 'orders', from: '2026-11-21T12:00:00.000Z', failed_to: '2026-11-22T11:50:00.000Z', q: '-5m' },
  })
})

test('messages that were chosen one by one stand beside the address, which says how many there are', () => {
  const read = (ids: string, chosen: string[]) => readDraft({ kind: 'retry', ids }, new Date(), chosen)
  expect(read('2', ['a', 'b'])).toMatchObject({ selection: { ids: ['a', 'b'] }, everything: false, isCut: false })
  expect(read('2', ['a'])).toMatchObject({ everything: false, isCut: true })
  expect(read('2', [])).toMatchObject({ everything: false, isCut: true })
  expect(read('a,b', [])).toMatchObject({ selection: { ids: ['a', 'b'] }, isCut: false })
  expect(draft.isCut).toBe(false)
})

test('what sends nothing is asked for without a rate, a canary or an answer to re-failures', () => {
  const address = { kind: 'delete', group: 'g1', rate_per_second: '10', canary: 'careful', on_refailure: 'cancel' }
  expect(runRequest(draftOf(address), given)).toEqual({
    ...{ kind: 'delete', selection: { group: 'g1' }, expect_count: 343, expect_tolerance: '10%' },
  })
})

test('the dry run asks for the same selection, and starts nothing', () => {
  expect(runRequest(draft, { ...given, matched: null })).toEqual({
    kind: 'retry',
    selection: { group: 'g1' },
    dry_run: true,
  })
})

test('what a policy holds is sent too where the draft says so, and only by what sends', () => {
  const send = draftOf({ kind: 'retry', group: 'g1', staleness: 'send' })
  expect(runRequest(send, given)).toMatchObject({ kind: 'retry', staleness: 'send' })
  expect(runRequest(draft, given)).not.toHaveProperty('staleness')
  expect(draftOf({ kind: 'dead', group: 'g1', staleness: 'send' }).sendsStale).toBe(false)
})

test('a canary is preselected above twenty messages, only for what sends, and can be switched off', () => {
  expect([20, 21].map((count) => canaryOf(draft, count))).toEqual(['off', 'careful'])
  expect(canaryOf(draftOf({ kind: 'delete', group: 'g1' }), 500)).toBe('off')
  expect(canaryOf(draftOf({ group: 'g1', canary: 'off' }), 500)).toBe('off')
})

test('a draft that no filter narrows to some topics means everything, and says so', () => {
  const all = draftOf({ kind: 'dead' })
  expect(all.everything).toBe(true)
  // As the API has it.
  for (const search of [{ status: 'DEAD' }, { status: 'DEAD', archived: 'true' }])
    expect(draftOf({ kind: 'dead', ...search }).everything).toBe(true)
  expect(selectionWords(all.selection)).toBe('all messages of all topics')
  expect(meantWords({ kind: 'dead', selection: { group: 'a-group' } })).toBe(
    'to give up, of all messages of one error group',
  )
  const ofGroup = { filter: { group_id: 'a-group', status: ['DEAD', 'PENDING'] } }
  expect(selectionWords(ofGroup)).toBe('messages with group_id a-group, status DEAD or PENDING')
  expect(selectionWords(ofGroup, 'Timeout')).toBe('messages of “Timeout” with status DEAD or PENDING')
  expect(selectionWords({ filter: { group_id: 'a-group' } }, 'Timeout')).toBe('messages of “Timeout”')
  expect(selectionWords({ filter: { topic: 'orders' } }, 'Timeout')).toBe('messages with topic orders')
  expect(draftOf({ kind: 'dead', topic: 'orders' })).toMatchObject({
    everything: false,
    selection: { filter: { topic: 'orders' } },
  })
})

test('the button says what happens, to how many, and where to', () => {
  expect(startWords('retry', exactly(12_343), ['orders'], false)).toBe('Retry 12,343 messages to orders')
  expect(startWords('retry', exactly(1), ['orders', 'refunds'], true)).toBe('Change and retry 1 message')
  expect(startWords('delete', exactly(2), ['orders'], false)).toBe('Delete 2 messages')
})

test('a reason that the console does not know is shown as the API names it', () => {
  expect(ineligibleWords('dead', 27)).toBe('27 are DEAD')
  expect(ineligibleWords('route_not_open', 1)).toBe('1 is route not open')
})

test.each([...changeProblems, 'changed'])('what a run has skipped as %s is a sentence', (reason) => {
  expect(ineligibleWords(reason, 2)).toMatch(/^2 are (unchanged: .+|as the change wants it already|changed since .+)$/)
})

test('the number is typed for what cannot be undone, and in production for what is large', () => {
  expect(mustType('delete', 1, false)).toBe(true)
  expect(['1234', '1,234', ' 1 234', '１２３４', '１，２３４'].map((text) => isNumberTyped(text, 1234))).not.toContain(
    false,
  )
  expect(['', '123', '1235', '12344'].map((text) => isNumberTyped(text, 1234))).not.toContain(true)
  expect(mustType('retry', 5000, false)).toBe(false)
  expect([1000, 1001].map((count) => mustType('retry', count, true))).toEqual([false, true])
})

test('the digits of a patch reach the API as they were typed', () => {
  const patch = '[{"op":"replace","path":"/n","value":12345678901234567890.120}]'
  expect(requestText({ kind: 'edit' }, patch)).toBe(`{"kind":"edit","patch":${patch}}`)
})

test('the samples of a dry run keep the digits of the answer', () => {
  const answer = '{"diff":[{"id":"a","before":{"n": 12345678901234567890.120},"after":{"n":1e400}}]}'
  expect(exactDiffs(answer)).toEqual([{ before: '{"n": 12345678901234567890.120}', after: '{"n":1e400}' }])
  expect(exactDiffs('{"eligible":1}')).toEqual([])
})

test('a run that compares with the originals adopts only where its address says so', () => {
  const compare = draftOf({ kind: 'origin', group: 'g1' })
  expect(runRequest(compare, given)).toEqual({
    ...{ kind: 'origin', selection: { group: 'g1' }, expect_count: 343, expect_tolerance: '10%' },
  })
  expect(runRequest(draftOf({ kind: 'origin', group: 'g1', adopt: 'true' }), given)).toMatchObject({ adopt: true })
  expect(draftOf({ kind: 'retry', group: 'g1', adopt: 'true' }).adopt).toBe(false)
  expect(startWords('origin', exactly(2), ['orders'], false)).toBe('Compare 2 messages with their originals')
  expect(startWords('origin', exactly(1), [], true)).toBe('Compare 1 message with its original, and adopt what differs')
})

test('what a run has done can be taken back, of just its messages', () => {
  expect(draftOf({ kind: 'revive', changed_in: 'r1' })).toMatchObject({
    ...{ kind: 'revive', selection: { changed_in: 'r1' }, everything: false },
  })
})

test('a draft knows which role its run needs, and whether for all topics', () => {
  expect(roleOfKind('retry')).toEqual({ role: 'sys_operator', ofAll: false })
  expect(roleOfKind('archive')).toEqual({ role: 'sys_operator', ofAll: true })
  expect(roleOfKind('purge')).toEqual({ role: 'sys_admin', ofAll: true })
})

test('the selection of a run becomes an address only where the address says all of it', () => {
  expect(searchOfSelection({ filter: { group_id: 'g1', status: ['PENDING', 'DEAD'] } })).toEqual({
    group_id: 'g1',
    status: 'PENDING,DEAD',
  })
  expect(searchOfSelection({ failed_again_in: 'r1' })).toEqual({ failed_again_in: 'r1' })
  expect(searchOfSelection({ filter: { topic: 'orders', payload: { id: 4711 } } })).toBeNull()
  expect(searchOfSelection({ filter: { topic: 'orders', key: '•••' } })).toBeNull()
  expect(searchOfSelection({ filter: { topic: 'orders', something_new: '1' } })).toBeNull()
  expect(searchOfSelection({ ids: 3 })).toBeNull()
})

test('a draft says how many would be taken, where others are held by another run', () => {
  const matched = { value: 160, relation: 'eq' } as const
  expect(eligibleWords({ matched, eligible: 160, complete: true })).toBe('160')
  expect(eligibleWords({ matched, eligible: 20, complete: true })).toBe('20 of 160')
  // Only the first of them were looked at.
  expect(eligibleWords({ matched: { value: 5000, relation: 'gte' }, eligible: 20, complete: false })).toBe('≥ 5,000')
})
