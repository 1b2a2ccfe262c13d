import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

const entry = (message: unknown, logger = 'processing.CSAS_X_1.KsqlTopic.Source.deserializer') =>
  deadLetter([], { value: Buffer.from(JSON.stringify({ level: 'ERROR', logger, time: 1_571_409_840_327, message })) })

test('a deserialization error has its topic and its innermost cause, and no offset', () => {
  const deserializationError = {
    target: 'value',
    errorMessage: 'Error deserializing message from topic: orders',
    recordB64: 'eyJ4Ig==',
    cause: ['Failed to deserialize data', 'Unknown magic byte!', null],
    topic: 'orders',
  }
  const record = entry({ type: 0, deserializationError, recordProcessingError: null, productionError: null })
  expect(readFailure(record)).toMatchObject({
    family: 'ksqldb',
    families: ['ksqldb'],
    context: { originalTopic: 'orders', originalOffset: null, errorMessage: 'Unknown magic byte!' },
  })
})

test('an error of another kind has its message', () => {
  const record = entry({ type: 2, productionError: { errorMessage: 'Error producing' } })
  expect(readFailure(record)).toMatchObject({ family: 'ksqldb', context: { errorMessage: 'Error producing' } })
})

test.each([
  entry({ text: 'an application’s log' }),
  entry({ type: 0, deserializationError: { errorMessage: 'x' } }, 'app'),
  entry({ type: 0, deserializationError: 'x' }),
  deadLetter([], { value: Buffer.from('{"logger":"processing","message":') }),
  deadLetter([], { value: Buffer.from('null') }),
  deadLetter([], { value: Buffer.alloc(0) }),
])('a value that is no log entry is no failure: %#', (record) => {
  expect(readFailure(record).family).toBeNull()
})
