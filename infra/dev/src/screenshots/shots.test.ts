import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { shots } from './shots.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const largestBytes = 150_000

const picturesOf = (file: string) =>
  [...readFileSync(`${root}${file}`, 'utf8').matchAll(/!\[[^\]]+\]\(([^)]*?console\/[^)]+\.png)\)/g)].map(
    ([, path]) => path!.split('/').at(-1)!,
  )

test('each picture of the console that a document shows is one that is made, and is there', () => {
  const made = shots.map(({ name }) => `${name}.png`)
  const shown = [...picturesOf('infra/docs/console.md'), ...picturesOf('README.md')]
  expect(shown.length).toBeGreaterThan(8)
  for (const name of shown) {
    expect(made).toContain(name)
    expect(existsSync(`${root}infra/docs/console/${name}`), name).toBe(true)
  }
  expect(made.filter((name) => !shown.includes(name))).toEqual([])
})

test('no picture is large', () => {
  for (const { name } of shots)
    expect(statSync(`${root}infra/docs/console/${name}.png`).size, name).toBeLessThan(largestBytes)
})
