import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

type Named = readonly [className: string, text: string]

const set = (offset: string, [className, reason]: Named, cause: Named | null = null) =>
  [
    ['dead-letter-exception-class-name', className],
    ['dead-letter-reason', reason],
    ...(cause === null
      ? []
      : ([
          ['dead-letter-cause-class-name', cause[0]],
          ['dead-letter-cause', cause[1]],
        ] as const)),
    ['dead-letter-topic', 'orders'],
    ['dead-letter-partition', '1'],
    ['dead-letter-offset', offset],
  ] as const

const rejected: Named = ['app.OrderRejected', 'refused']
const processing: Named = ['io.smallrye.reactive.messaging.ProcessingException', 'SRMSG00103: Exception thrown']
const invocation = 'java.lang.reflect.InvocationTargetException'

test('the first set is the newest, without an older one’s cause', () => {
  const record = deadLetter([...set('9', processing), ['x-app', 'a'], ...set('1', processing, rejected)])
  expect(readFailure(record)).toMatchObject({
    family: 'smallrye',
    context: {
      originalTopic: 'orders',
      originalPartition: 1,
      originalOffset: 9n,
      originalTimestamp: null,
      consumerGroup: null,
      errorClass: processing[0],
      errorMessage: processing[1],
      errorStacktrace: null,
      attempts: null,
    },
  })
})

test.each([
  ['the exception where it is no wrapper', rejected, ['java.io.IOException', 'down'], rejected],
  ['the cause where the exception is a wrapper', processing, rejected, rejected],
  ['the outer wrapper where both are', processing, [invocation, invocation], processing],
] as const)('the error is %s', (_, outer, cause, [errorClass, errorMessage]) => {
  expect(readFailure(deadLetter(set('9', outer, cause))).context).toMatchObject({ errorClass, errorMessage })
})

test('the class name in place of a message that was null is no message', () => {
  const record = deadLetter(set('9', ['java.lang.NullPointerException', 'java.lang.NullPointerException']))
  expect(readFailure(record).context).toMatchObject({
    errorClass: 'java.lang.NullPointerException',
    errorMessage: null,
  })
})

test('sets of old versions, without class names, are read', () => {
  const old = set('9', rejected, ['app.Down', 'down']).filter(([name]) => !name.endsWith('class-name'))
  const record = deadLetter([...old, ...set('1', rejected).filter(([name]) => !name.endsWith('class-name'))])
  expect(readFailure(record).context).toMatchObject({ originalOffset: 9n, errorClass: null, errorMessage: 'refused' })
})

test('sets that a tool has regrouped by name are read as one that was not', () => {
  const sets = [...set('9', rejected), ...set('1', ['app.Down', 'down'])]
  const regrouped = sets.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  expect(readFailure(deadLetter(regrouped)).context).toEqual(readFailure(deadLetter(sets)).context)
})
