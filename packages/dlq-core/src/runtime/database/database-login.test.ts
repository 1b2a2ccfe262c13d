import { expect, test } from 'vitest'
import { loadConfig } from '../config/config.ts'
import type { DatabaseConfig } from '../config/config-schema.ts'
import { createLog } from '../log.ts'
import { followLogin, loginOf } from './database-login.ts'

function databaseOf(env: Record<string, string>): DatabaseConfig {
  return loadConfig({ env, yaml: null, needs: [] }).config.database
}

const urlOf = (user: string) => databaseOf({ DATABASE_URL: `postgres://${user}:secret-of-${user}@db/dlq` })

/** A login that PostgreSQL, as told by `accepts`, takes or refuses. */
function follow(accepts: (config: DatabaseConfig) => void = () => {}) {
  const next: (DatabaseConfig | null | Error)[] = []
  const changes: string[] = []
  const login = followLogin(urlOf('one'), {
    reread() {
      const settings = next.shift() ?? null
      if (settings instanceof Error) throw settings
      return settings
    },
    prove: async (config) => accepts(config),
    log: createLog({ service: 'test', level: 'silent' }),
  })
  login.onChange(() => changes.push(login.current().user))
  return { login, next, changes }
}

test('a login comes from the URL or its parts, and a separate password wins over the URL’s', () => {
  expect(loginOf(databaseOf({ DATABASE_URL: 'postgres://a%40b:p%2Fq@db/dlq' }))).toEqual({
    user: 'a@b',
    password: 'p/q',
  })
  const both = { DATABASE_URL: 'postgres://app:old@db/dlq', DLQ_DATABASE_PASSWORD: 'new' }
  expect(loginOf(databaseOf(both))).toEqual({ user: 'app', password: 'new' })
  const parts = { DATABASE_URL: 'postgres://db/dlq', DLQ_DATABASE_USER: 'app', DLQ_DATABASE_PASSWORD: 'x' }
  expect(loginOf(databaseOf(parts))).toEqual({ user: 'app', password: 'x' })
})

test('another login is used once PostgreSQL has accepted it, and its users are told', async () => {
  const { login, next, changes } = follow()
  next.push(urlOf('two'))
  await login.look()
  expect(login.current()).toEqual({ user: 'two', password: 'secret-of-two' })
  await login.look()
  expect(changes).toEqual(['two'])
})

test('a login that is refused is tried at each look, while the former one stays', async () => {
  let isThere = false
  const { login, next, changes } = follow(() => {
    if (!isThere) throw new Error('role "two" does not exist')
  })
  next.push(urlOf('two'))
  await login.look()
  expect(login.current().user).toBe('one')
  isThere = true
  await login.look()
  expect(changes).toEqual(['two'])
})

test('settings that cannot be read change nothing', async () => {
  const { login, next, changes } = follow()
  next.push(new Error('the configuration has a fault'), urlOf('one'), urlOf('three'))
  await login.look()
  await login.look()
  expect(changes).toEqual([])
  await login.look()
  expect(changes).toEqual(['three'])
})
