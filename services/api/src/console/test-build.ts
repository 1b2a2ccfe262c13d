// Shared by tests of the console's serving: a small build as Vite leaves one, in a folder of its own.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

export type TestBuild = { folder: string; remove(): void }

export const testScript = 'console.log("now")\n'.repeat(50)

export function makeTestBuild(): TestBuild {
  const parent = mkdtempSync(join(tmpdir(), 'dlq-console-'))
  const folder = join(parent, 'dist')
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  writeFileSync(join(parent, '.env'), 'outside')
  put(
    'index.html',
    '<!doctype html><html lang="en"><head><link rel="icon" href="/console/favicon.svg"><script type="module" src="/console/assets/index-C0ffee01.js"></script></head><body></body></html>',
  )
  put('favicon.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')
  put('assets/index-C0ffee01.js', testScript)
  writeFileSync(join(folder, 'assets/index-C0ffee01.js.br'), brotliCompressSync(testScript))
  writeFileSync(join(folder, 'assets/index-C0ffee01.js.gz'), gzipSync(testScript))
  put('assets/inter-C0ffee02.woff2', 'font')
  put('.vite/manifest.json', '{}')
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true }) }
}
