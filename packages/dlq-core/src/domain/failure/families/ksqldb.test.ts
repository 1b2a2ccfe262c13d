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

test.each(['recordProcessingError', 'productionError', 'serializationError', 'kafkaStreamsThreadError'])(
  'a %s has its message where no cause says anything, and no topic where its name is empty',
  (kind) => {
    const record = entry({ type: 2, [kind]: { errorMessage: 'It failed', cause: [' ', null], topic: '' } })
    expect(readFailure(record)).toMatchObject({
      family: 'ksqldb',
      context: { originalTopic: null, errorMessage: 'It failed' },
    })
  },
)

test('an error without any message has none', () => {
  expect(readFailure(entry({ productionError: { errorMessage: '' } })).context.errorMessage).toBeNull()
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
