import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

test('every package has the version of the project, because a release has one', () => {
  const files = execFileSync('git', ['ls-files', 'package.json', '*/package.json'], { cwd: root, encoding: 'utf8' })
  const versions = files
    .trim()
    .split('\n')
    .map((file) => `${file} ${JSON.parse(readFileSync(`${root}/${file}`, 'utf8')).version}`)
  const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
  expect(versions.length).toBeGreaterThan(5)
  expect(versions.filter((line) => !line.endsWith(` ${version}`))).toEqual([])
})
