import { expect, test } from 'vitest'
import { createReadiness, faultFree } from './readiness.ts'

const never = () => new Promise<never>(() => {})

test('a service is ready when every check passes', async () => {
  const readiness = createReadiness({ database: async () => 1, kafka: async () => undefined })
  expect(await readiness.check()).toEqual({ ready: true, checks: { database: 'ok', kafka: 'ok' } })
})

test('a check that fails says why, and the others are still made', async () => {
  const readiness = createReadiness({
    database: () => Promise.reject(new Error('connection refused')),
    kafka: async () => undefined,
  })
  expect(await readiness.check()).toEqual({ ready: false, checks: { database: 'connection refused', kafka: 'ok' } })
})

test('a service is not ready while it has met a fault', async () => {
  let fault: string | null = 'an ACL is missing'
  const readiness = createReadiness({ publishing: faultFree(() => fault) })
  expect(await readiness.check()).toEqual({ ready: false, checks: { publishing: 'an ACL is missing' } })
  fault = null
  expect((await readiness.check()).ready).toBe(true)
})

test.each([
  [
    'at once',
    () => {
      throw new Error('broken')
    },
    'broken',
  ],
  ['with an error without a message', () => Promise.reject(new AggregateError([])), 'AggregateError'],
  ['with something that is no error', () => Promise.reject('gone'), 'gone'],
  ['with nothing', () => Promise.reject(), 'undefined'],
])('a check that fails %s counts as failed', async (_, check, outcome) => {
  expect(await createReadiness({ check: check as () => Promise<never> }).check()).toEqual({
    ready: false,
    checks: { check: outcome },
  })
})

test('a check that hangs counts as failed, and no second one is started behind it', async () => {
  let started = 0
  const readiness = createReadiness(
    {
      database: () => {
        started += 1
        return never()
      },
    },
    { timeoutMs: 20 },
  )
  const failed = { ready: false, checks: { database: 'no answer within 0.02 s' } }

  expect(await readiness.check()).toEqual(failed)
  expect(await Promise.all([readiness.check(), readiness.check()])).toEqual([failed, failed])
  expect(started).toBe(1)
})

test('a check that hung is started again after it has ended', async () => {
  let end: (value: unknown) => void = () => {}
  let started = 0
  const check = () => {
    started += 1
    return started === 1 ? new Promise((resolve) => (end = resolve)) : Promise.resolve()
  }
  const readiness = createReadiness({ database: check }, { timeoutMs: 20 })

  expect(await readiness.check()).toMatchObject({ ready: false })
  end(undefined)
  expect(await readiness.check()).toMatchObject({ ready: true })
  expect(await readiness.check()).toMatchObject({ ready: true })
  expect(started).toBeGreaterThan(1)
})

test('a service that drains is not ready, whatever its checks say', async () => {
  const readiness = createReadiness({ database: async () => 1 })
  readiness.drain()
  expect(await readiness.check()).toEqual({ ready: false, checks: { database: 'ok', service: 'stopping' } })
})
