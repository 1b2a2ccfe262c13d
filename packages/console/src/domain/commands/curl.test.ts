import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { curlOf } from './curl.ts'

test('a request is a command without the session', () => {
  expect(curlOf({ method: 'GET', path: '/api/v1/status', body: null })).toBe(
    `curl -H "Authorization: Bearer $TOKEN" "$API"'/api/v1/status'`,
  )
  expect(curlOf({ method: 'POST', path: '/api/v1/runs', body: '{"kind":"retry"}' })).toBe(
    `curl -X POST -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"kind":"retry"}' "$API"'/api/v1/runs'`,
  )
})

test('a shell gives curl the path and the body as they are', () => {
  const text = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).filter((one) => !one.includes('\0') && one !== '')
  fc.assert(
    fc.property(text, text, (path, body) => {
      const command = curlOf({ method: 'PUT', path, body })
      const script = `curl() { printf '%s\\0' "$@"; }; API=api TOKEN=token; ${command}`
      const words = execFileSync('sh', ['-c', script]).toString().split('\0')
      expect(words.slice(0, -1).at(-1)).toBe(`api${path}`)
      expect(words).toContain(body)
    }),
    { numRuns: 30 },
  )
})
