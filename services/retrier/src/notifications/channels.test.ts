import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openChannel } from './channels.ts'

const folder = mkdtempSync(join(tmpdir(), 'dlq-channels-'))
afterAll(() => rmSync(folder, { recursive: true }))

function open(secret: string) {
  const [url_file, secret_file] = [join(folder, 'url'), join(folder, 'key')]
  writeFileSync(url_file, 'https://example.com/hook\n')
  writeFileSync(secret_file, secret)
  return openChannel({ name: 'tools', kind: 'webhook', url_file, secret_file })
}

test('while a secret is rotated, a channel has both', () => {
  expect(open('whsec_old\n\n whsec_new \n').secrets).toEqual(['whsec_old', 'whsec_new'])
})

test('a webhook does not go out unsigned where its secret is empty', () => {
  expect(() => open(' \n\n')).toThrow('key holds no secret')
})
