import { describe, expect, test } from 'vitest'
import { type Deciding, decide, isEnded, type Outcome, type Position, sagaStatuses, type Task } from './decide.ts'

const deciding: Deciding = { stepCount: 3, retry: { maxAttempts: 3, delayMs: 100 }, hadFault: false }
const execute: Task = { action: 'EXECUTE', attempt: 1, isUnsure: false }
const compensate: Task = { action: 'COMPENSATE', attempt: 1, isUnsure: false }
const running: Position = { status: 'RUNNING', currentStep: 1 }
const compensating: Position = { status: 'COMPENSATING', currentStep: 1 }
const done: Outcome = { type: 'done' }
const failed = { type: 'failed', kind: 'FAILED', isPermanent: false, isUnsure: false } as const

test('a saga has ended as COMPLETED, FAILED or CANCELLED', () => {
  expect(sagaStatuses.filter(isEnded)).toEqual(['COMPLETED', 'FAILED', 'CANCELLED'])
})

describe('a step that is done', () => {
  test.each([
    ['RUNNING at the next one', running, execute, { status: 'RUNNING', currentStep: 2 }, execute],
    [
      'COMPLETED after the last one',
      { ...running, currentStep: 2 },
      execute,
      { status: 'COMPLETED', currentStep: 3 },
      null,
    ],
    ['compensated first, where it was cancelled meanwhile', compensating, execute, compensating, compensate],
    ['followed by the one below it', compensating, compensate, { ...compensating, currentStep: 0 }, compensate],
    [
      'CANCELLED after the first one',
      { ...compensating, currentStep: 0 },
      compensate,
      { status: 'CANCELLED', currentStep: 0 },
      null,
    ],
  ] as const)('is %s', (_, at, task, after, next) => {
    expect(decide(at, { ...task, attempt: 2, isUnsure: true }, done, deciding)).toEqual({
      ...{ ...after, log: { status: 'SUCCESS', isOver: true } },
      next: next && { ...next, afterMs: 0 },
    })
  })

  test('ends a saga with a fault as FAILED', () => {
    const at = { ...compensating, currentStep: 0 }
    expect(decide(at, compensate, done, { ...deciding, hadFault: true })).toMatchObject({ status: 'FAILED' })
    expect(decide(at, compensate, { type: 'uncompensable' }, { ...deciding, hadFault: true })).toMatchObject({
      ...{ status: 'FAILED', log: { status: 'SKIPPED', isOver: true } },
    })
  })
})

test('the next chunk is a first attempt, after its wait; one without progress is not logged', () => {
  const more = (hasProgress: boolean, at: Position = running) =>
    decide(at, { ...execute, attempt: 3, isUnsure: true }, { type: 'more', hasProgress, afterMs: 500 }, deciding)
  const next = { ...execute, afterMs: 500 }
  expect(more(true)).toEqual({ ...running, log: { status: 'SUCCESS', isOver: false }, next })
  expect(more(false, { status: 'STARTED', currentStep: 0 })).toEqual({
    status: 'RUNNING',
    currentStep: 0,
    log: null,
    next,
  })
})

describe('a step that failed', () => {
  test.each([
    [{}, [100, 200, 400, 60_000]],
    [{ maxDelayMs: 250 }, [100, 200, 250, 250]],
  ])('with the policy %o is tried again after waits that double up to the longest', (more, waits) => {
    const retry = { maxAttempts: 30, delayMs: 100, ...more }
    const at: Position = { status: 'STARTED', currentStep: 0 }
    const found = [1, 2, 3, 20].map((attempt) => decide(at, { ...execute, attempt }, failed, { ...deciding, retry }))
    expect(found[1]).toEqual({
      status: 'RUNNING',
      currentStep: 0,
      log: null,
      next: { ...execute, attempt: 3, afterMs: 200 },
    })
    expect(found.map(({ next }) => next?.afterMs)).toEqual(waits)
  })

  test('stays unsure with its next attempts, once one of them was', () => {
    const next = (task: Task, isUnsure: boolean) =>
      decide(running, task, { ...failed, isUnsure }, deciding).next?.isUnsure
    expect([next(execute, false), next(execute, true), next({ ...execute, isUnsure: true }, false)]).toEqual([
      ...[false, true, true],
    ])
  })

  test.each<[string, Task, Outcome, number]>([
    ['is not compensated itself', { ...execute, attempt: 3 }, failed, 0],
    [
      'is, where it may have had an effect',
      { ...execute, attempt: 3 },
      { ...failed, kind: 'TIMEOUT', isUnsure: true },
      1,
    ],
    ['is, where an earlier attempt may have', { ...execute, attempt: 3, isUnsure: true }, failed, 1],
    ['is tried no more, where it would fail again', execute, { ...failed, isPermanent: true }, 0],
  ])('%s', (_, task, outcome, from) => {
    const { kind } = outcome as typeof failed
    expect(decide(running, task, outcome, deciding)).toEqual({
      ...{ status: 'COMPENSATING', currentStep: from, log: { status: kind, isOver: true } },
      next: { ...compensate, afterMs: 0 },
    })
  })

  test('is not tried again where the saga was cancelled; this is no fault, unless it was the last attempt', () => {
    const at: Position = { status: 'COMPENSATING', currentStep: 0 }
    const end = (attempt: number) => decide(at, { ...execute, attempt }, failed, deciding)
    expect(end(1)).toEqual({
      status: 'CANCELLED',
      currentStep: 0,
      log: { status: 'SKIPPED', isOver: true },
      next: null,
    })
    expect(end(3)).toMatchObject({ status: 'FAILED', log: { status: 'FAILED' } })
    expect(decide(at, execute, failed, { ...deciding, hadFault: true })).toMatchObject({ status: 'FAILED' })
  })

  test('a compensation that failed is tried again, and after its last attempt the others still happen', () => {
    const unsure = { ...compensate, isUnsure: true }
    expect(decide(compensating, unsure, failed, deciding)).toMatchObject({ ...compensating, next: { attempt: 2 } })
    expect(decide(compensating, { ...unsure, attempt: 3 }, failed, deciding)).toMatchObject({
      ...{ status: 'COMPENSATING', currentStep: 0, log: { status: 'FAILED', isOver: true } },
    })
  })
})

test.each([
  ['compensated, where it may have had an effect', { isUnsure: true, hasProgress: true }, 1, 'SUCCESS'],
  ['left alone, where it had none', { isUnsure: false, hasProgress: false }, 0, 'SKIPPED'],
])('a step that a cancel has overtaken is %s', (_, outcome, currentStep, status) => {
  expect(decide(compensating, execute, { type: 'overtaken', ...outcome }, deciding)).toMatchObject({
    ...{ status: 'COMPENSATING', currentStep, log: { status, isOver: true } },
  })
})
