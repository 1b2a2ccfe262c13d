import { expect, test } from 'vitest'
import { createClaimTurns } from './claim-turns.ts'

test('a claim begins when those before it have ended, also where one failed', async () => {
  const turns = createClaimTurns()
  const ends: (() => void)[] = []
  const begun: string[] = []
  const claim = (name: string) =>
    turns.take(async () => {
      begun.push(name)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (name === 'second') throw new Error('the database is gone')
      return name
    })
  const [first, second, third] = [
    claim('first'),
    claim('second').catch((error: Error) => error.message),
    claim('third'),
  ]

  await expect.poll(() => begun).toEqual(['first'])
  ends.shift()!()
  expect(await first).toBe('first')
  await expect.poll(() => begun).toEqual(['first', 'second'])
  ends.shift()!()
  expect(await second).toBe('the database is gone')
  await expect.poll(() => begun).toEqual(['first', 'second', 'third'])
  ends.shift()!()
  expect(await third).toBe('third')
})
