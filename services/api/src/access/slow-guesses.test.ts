import { expect, test } from 'vitest'
import { ApiError } from '../http/api-error.ts'
import { WrongToken } from './authenticate.ts'
import { createSlowGuesses } from './slow-guesses.ts'

let at = 0
const start = ({ withdrawn = new Set<string>() } = {}) => {
  const slowGuesses = createSlowGuesses({ now: () => at })
  return (credentials: string, address = '10.0.0.1') =>
    slowGuesses({ address, credentials }, async () => {
      if (credentials === 'expired') throw new ApiError('SYS_DLQ_UNAUTHENTICATED', 'expired')
      if (credentials.startsWith('guess') || withdrawn.has(credentials)) throw new WrongToken('wrong')
      return credentials
    }).catch((error: ApiError) => error.code)
}
const refused = 'SYS_DLQ_TOO_MANY_REQUESTS'

test('wrong tokens of an address are slowed, and what nobody has shown before is not even looked at', async () => {
  const ask = start()
  const answers = []
  for (let n = 0; n < 30; n += 1) answers.push(await ask(`guess ${n}`))
  expect(answers.filter((answer) => answer === 'SYS_DLQ_UNAUTHENTICATED')).toHaveLength(20)
  expect(answers.slice(20)).toEqual(Array(10).fill(refused))
  expect(await ask('right')).toBe(refused)
  at += 2000
  expect(await ask('right')).toBe('right')
  expect(await ask('guess')).toBe('SYS_DLQ_UNAUTHENTICATED')
})

test('a token that was right before, another address, and who sends none are not slowed', async () => {
  const ask = start()
  expect(await ask('right')).toBe('right')
  for (let n = 0; n < 30; n += 1) await ask(`guess ${n}`)
  expect(await ask('right')).toBe('right')
  expect(await ask('another', '10.0.0.2')).toBe('another')
  expect(await ask('')).toBe('')
  expect(await ask('new')).toBe(refused)
})

test('a token that was right, and is not any more, is a guess like others', async () => {
  const withdrawn = new Set<string>()
  const ask = start({ withdrawn })
  expect(await ask('old')).toBe('old')
  withdrawn.add('old')
  for (let n = 0; n < 19; n += 1) await ask(`guess ${n}`)
  expect(await ask('old')).toBe('SYS_DLQ_UNAUTHENTICATED')
  expect(await ask('old')).toBe(refused)
})

test('what is known of ten thousand addresses and tokens is forgotten, not kept for ever', async () => {
  const ask = start()
  expect(await ask('right', '10.0.0.9')).toBe('right')
  for (let n = 0; n < 20; n += 1) await ask('guess')
  expect(await ask('new')).toBe(refused)
  for (let n = 0; n < 10_000; n += 1) await ask('guess', `address ${n}`)
  expect(await ask('new')).toBe('new')

  for (let n = 0; n < 10_000; n += 1) await ask(`right ${n}`, '10.0.0.9')
  for (let n = 0; n < 20; n += 1) await ask('guess')
  expect(await ask('right')).toBe(refused)
})

test('a token that has expired is no guess', async () => {
  const ask = start()
  for (let n = 0; n < 30; n += 1) expect(await ask('expired')).toBe('SYS_DLQ_UNAUTHENTICATED')
  expect(await ask('right')).toBe('right')
})

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', true],
  ['2001:db8::1', '2001:db8:0:0:1::', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.2', false],
])('%s and %s are slowed together: %s', async (one, other, together) => {
  const ask = start()
  for (let n = 0; n < 30; n += 1) await ask(`guess ${n}`, one)
  expect(await ask('new', other)).toBe(together ? refused : 'new')
})
