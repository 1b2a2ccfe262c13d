// The budgets of the console, over its build.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildConsole, consoleDist } from './build-console.ts'
import { type Manifest, type Sizes, sizesOf } from './console-sizes.ts'

const kB = 1000
/** What may be large because it is loaded by who edits or looks at a chart, and by nobody else. */
const isEditor = (source: string) => /codemirror|editor|diff|pages\/edit\//i.test(source)

test('a part is as large as what it adds to the first load and the frame', () => {
  const manifest: Manifest = {
    'index.html': { file: 'i.js', isEntry: true, css: ['i.css'], imports: ['_shared.js'] },
    '_shared.js': { file: 's.js' },
    'src/pages/now/now-page.tsx': { file: 'n.js', isDynamicEntry: true, imports: ['index.html'] },
    'src/pages/runs/runs-page.tsx': {
      file: 'r.js',
      isDynamicEntry: true,
      imports: ['_shared.js', '_menu.js', '_table.js'],
    },
    'src/app/menus.tsx': { file: 'm.js', isDynamicEntry: true, imports: ['_menu.js', '_shared.js'] },
    '_menu.js': { file: 'u.js' },
    '_table.js': { file: 't.js', css: ['t.css'], imports: ['_shared.js'] },
    'a.woff2': { file: 'a.woff2' },
  }
  const sizes = {
    'i.js': 1,
    'i.css': 2,
    's.js': 4,
    'n.js': 8,
    'r.js': 16,
    't.js': 32,
    't.css': 64,
    'a.woff2': 128,
    'm.js': 256,
    'u.js': 512,
  }
  expect(sizesOf(manifest, (file) => sizes[file as keyof typeof sizes])).toEqual({
    first: 1 + 2 + 4 + 8,
    frame: 256 + 512,
    parts: new Map([['src/pages/runs/runs-page.tsx', 16 + 32 + 64]]),
    fonts: new Map([['a.woff2', 128]]),
  })
})

describe('of the build', () => {
  let sizes: Sizes
  beforeAll(async () => {
    await buildConsole()
    const manifest = JSON.parse(readFileSync(join(consoleDist, '.vite/manifest.json'), 'utf8')) as Manifest
    sizes = sizesOf(manifest, (file) => {
      const bytes = readFileSync(join(consoleDist, file))
      return file.endsWith('.woff2') ? bytes.length : gzipSync(bytes, { level: 9 }).length
    })
    const lines = [
      ['first load', sizes.first] as const,
      ['frame', sizes.frame] as const,
      ...sizes.parts,
      ...sizes.fonts,
    ].map(([name, bytes]) => `${(bytes / kB).toFixed(1).padStart(8)} kB  ${name}`)
    console.log(`the console, compressed:\n${lines.join('\n')}`)
  }, 180_000)

  test('the first load is at most 200 kB', () => {
    expect(sizes.first).toBeGreaterThan(10 * kB)
    expect(sizes.first).toBeLessThanOrEqual(200 * kB)
  })

  test('what the frame loads afterwards is at most 40 kB', () => {
    expect(sizes.frame).toBeGreaterThan(kB)
    expect(sizes.frame).toBeLessThanOrEqual(40 * kB)
  })

  test('each further page is at most 40 kB, and the editor 180 kB', () => {
    const large = [...sizes.parts].filter(([source, bytes]) => bytes > (isEditor(source) ? 180 : 40) * kB)
    expect(large).toEqual([])
  })

  test('there are two fonts, together at most 90 kB', () => {
    expect(sizes.fonts.size).toBe(2)
    expect([...sizes.fonts.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(90 * kB)
  })
})
