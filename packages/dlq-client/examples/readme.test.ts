import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

test('every example of the README is type-checked', () => {
  const files = readdirSync(new URL('.', import.meta.url)).filter((name) => !name.endsWith('.test.ts'))
  const examples = files.map((name) => read(name))
  const blocks = [...read('../README.md').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block!)
  expect(blocks.length).toBeGreaterThan(0)
  for (const block of blocks)
    expect(
      examples.filter((example) => example.includes(block)),
      block,
    ).toHaveLength(1)
  expect(blocks).toHaveLength(files.length)
})
