import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chooseContext, contextPath, readContexts, writeContexts } from './contexts.ts'
import { tokenOf } from './token.ts'

let env: NodeJS.ProcessEnv
beforeEach(() => {
  env = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), 'dlq-contexts-')) }
})
afterEach(() => rmSync(env.XDG_CONFIG_HOME!, { recursive: true }))

const shop = { api: 'https://dlq.shop.example', token_file: '/run/token' }

test('the context named goes before DLQ_API, and that before the current one', () => {
  writeContexts(env, { current: 'shop', contexts: { shop, bank: { api: 'https://dlq.bank.example' } } })
  expect(chooseContext(env, undefined)).toEqual({ name: 'shop', ...shop })
  env.DLQ_API = 'https://other.example/'
  expect(chooseContext(env, undefined)).toEqual({ name: 'DLQ_API', api: 'https://other.example' })
  expect(chooseContext(env, 'bank').api).toBe('https://dlq.bank.example')
  expect(() => chooseContext(env, 'none')).toThrow('no context none')
})

test('no context has the name of what every object has', () => {
  writeContexts(env, { current: 'shop', contexts: { shop } })
  for (const name of ['__proto__', 'constructor', 'toString']) {
    expect(() => chooseContext(env, name)).toThrow(`no context ${name};`)
    expect(() => writeContexts(env, { current: name, contexts: { shop } })).toThrow(`no context ${name};`)
  }
  expect(() => writeContexts(env, { current: 'constructor', contexts: { constructor: shop } })).toThrow('no context')
  expect(readContexts(env).current).toBe('shop')
})

test('the address of the console stands for that of its API', () => {
  const apiOf = (address: string) => chooseContext({ ...env, DLQ_API: address }, undefined).api
  expect(apiOf('http://127.0.0.1:8080/console/')).toBe('http://127.0.0.1:8080')
  expect(apiOf('https://ops.example/dlq/console')).toBe('https://ops.example/dlq')
  expect(apiOf('https://console.example/')).toBe('https://console.example')
  expect(apiOf('https://ops.example/console/?state=open#now')).toBe('https://ops.example')
  expect(apiOf('https://ops.example/dlq/console/groups/0198c1d2?n=2')).toBe('https://ops.example/dlq')
  expect(apiOf('https://ops.example/console/messages?status=DEAD')).toBe('https://ops.example')
  expect(apiOf('https://ops.example/console/dlq')).toBe('https://ops.example/console/dlq')
})

test('an address is as requests have it, so that --curl leaves out exactly the address', () => {
  const apiOf = (address: string) => chooseContext({ ...env, DLQ_API: address }, undefined).api
  expect(apiOf('https://DLQ.example:443/base/')).toBe('https://dlq.example/base')
  expect(apiOf('http://127.1:80/a/../b')).toBe('http://127.0.0.1/b')
  writeContexts(env, { current: 'shop', contexts: { shop: { api: 'https://dlq.example:443/' } } })
  expect(chooseContext(env, undefined).api).toBe('https://dlq.example')
})

test('an address with a user or a password is refused, and not shown', () => {
  for (const user of ['maria:secret', 'secret', ':secret']) {
    const fault = () => chooseContext({ ...env, DLQ_API: `https://${user}@dlq.example` }, undefined)
    expect(fault).toThrow(/no user and no password: give a token/)
    expect(fault).not.toThrow(/secret/)
  }
})

test('a file of contexts is for its owner alone, and refused where others may read it', () => {
  writeContexts(env, { current: null, contexts: { shop } })
  expect(statSync(contextPath(env)).mode & 0o777).toBe(0o600)
  chmodSync(contextPath(env), 0o640)
  expect(() => readContexts(env)).toThrow('chmod 600')
})

test('a file that says something else is refused', () => {
  writeContexts(env, { current: null, contexts: {} })
  writeFileSync(contextPath(env), '{"current":null,"contexts":{"a":{"api":"https://a","token":"secret"}}}')
  expect(() => readContexts(env)).toThrow(`${contextPath(env)}: contexts.a.token: unknown key; repair it, or delete`)
  writeFileSync(contextPath(env), '{"current":null,"contexts":{"a":{"api":"ftp://a"}}}')
  expect(() => readContexts(env)).toThrow('contexts.a.api: ')
})

test('a token comes from its file, each time anew, or from a command, once; another context never gets DLQ_TOKEN', () => {
  const file = join(env.XDG_CONFIG_HOME!, 'token')
  writeFileSync(file, 'one\n')
  const read = tokenOf({ name: 'shop', api: shop.api, token_file: file }, env)!
  expect(read()).toBe('one')
  writeFileSync(file, 'two\n')
  expect(read()).toBe('two')
  writeFileSync(file, 'two\nlines')
  expect(read).toThrow('no token of one line')
  const asked = tokenOf({ name: 'shop', api: shop.api, token_command: `echo >> '${file}'; echo three` }, env)!
  expect([asked(), asked()]).toEqual(['three', 'three'])
  expect(readFileSync(file, 'utf8')).toBe('two\nlines\n')
  expect(tokenOf({ name: 'shop', api: shop.api }, { DLQ_TOKEN: 'x' })).toBeNull()
  expect(tokenOf({ name: 'DLQ_API', api: shop.api }, { DLQ_TOKEN: 'x' })!()).toBe('x')
})
