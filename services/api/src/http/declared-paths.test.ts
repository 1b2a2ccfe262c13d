import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { allowedMethods, declaredPaths, routeLabel } from './declared-paths.ts'
import type { ApiEnv } from './define-route.ts'

const app = new Hono<ApiEnv>()
app.use(async (_, next) => next())
for (const route of ['POST /runs/preview', 'GET /runs/:id', 'DELETE /runs/:id', 'PUT /runs/:id/rate']) {
  const [method, path] = route.split(' ')
  app.on(
    method!,
    path!,
    async (_, next) => next(),
    (c) => c.text(''),
  )
}

test.each([
  ['/runs/1', ['GET', 'HEAD', 'DELETE']],
  ['/runs/1/rate', ['PUT']],
  ['/runs/preview', ['POST']],
  ['/runs', []],
  ['/runs/1/', []],
])('%s knows the methods %j', (path, methods) => {
  expect(allowedMethods(app, path)).toEqual(methods)
})

test('middleware for every request is not a declared path', () => {
  expect(new Set(declaredPaths(app, 'get', '/runs/1'))).toEqual(new Set(['/runs/:id']))
  expect(declaredPaths(app, 'get', '/nothing')).toEqual([])
})

test.each([
  ['/lists/all', '/lists/all'],
  ['/lists/one', '/lists/:name'],
  ['/nothing', '/*'],
])('a request for %s is labelled %s', async (path, label) => {
  let found: string | null = null
  const app = new Hono<ApiEnv>()
  app.use(async (c, next) => {
    await next()
    found = routeLabel(c)
  })
  app.get('/lists/all', (c) => c.text('all'))
  app.get('/lists/:name', (c) => c.text('one'))
  await app.request(path)
  expect(found).toBe(label)
})
