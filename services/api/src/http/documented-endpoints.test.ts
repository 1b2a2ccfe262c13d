// Documents name endpoints that exist: whoever copies a path from them gets an answer.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { allRoutes } from '../routes/all-routes.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
// Decisions may tell of what was.
const documents = globSync(
  [
    'README.md',
    'infra/docs/*.md',
    'infra/docs/{recipes,runbook}/*.md',
    'infra/*/README.md',
    '{packages,services}/*/README.md',
  ],
  { cwd: root },
)
/** One or several methods, then a path: `POST DELETE /api/v1/session`. */
const endpoint = /\b((?:(?:GET|PUT|POST|PATCH|DELETE) )+)(\/(?:api|dlq-status|channel)[^\s`"'?,;|)]*)/g

const routes = allRoutes.map(({ method, path }) => ({
  method: method.toUpperCase(),
  path: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))

/** The endpoints that a text names and the API does not have. */
function unknownIn(text: string): string[] {
  return [...text.matchAll(endpoint)].flatMap(([, methods = '', written = '']) => {
    const path = written.replace(/[.…]+$/, '')
    return methods
      .trim()
      .split(' ')
      .filter((method) => !routes.some((route) => route.method === method && route.path.test(path)))
      .map((method) => `${method} ${path}`)
  })
}

test('every endpoint that a document names exists', () => {
  expect(documents.length).toBeGreaterThan(60)
  const unknown = documents.flatMap((file) =>
    unknownIn(readFileSync(`${root}${file}`, 'utf8')).map((name) => `${file}: ${name}`),
  )
  expect(unknown).toEqual([])
})

test('one that does not exist would be found', () => {
  expect(unknownIn('`GET /api/v1/dlq/:topic`, `PUT DELETE /api/v1/policies/orders?dry_run=true`.')).toEqual([])
  expect(unknownIn('`GET PATCH /api/v1/dlq/:topic`, `GET /api/v1/messages/ID`')).toEqual([
    'PATCH /api/v1/dlq/:topic',
    'GET /api/v1/messages/ID',
  ])
})
