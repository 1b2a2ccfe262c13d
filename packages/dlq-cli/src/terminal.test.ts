import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { buildTestBundle, runLine } from './testing/test-bundle.ts'

test('nobody needs to read what is noted', async () => {
  using bundle = await buildTestBundle()
  const line = 'dlq context use none 2> >(exec true); echo $?'
  for (const noted of [line, line.replace('>(exec true)', '/dev/null')])
    expect(await runLine(noted, bundle), noted).toMatchObject({ stdout: '78\n' })
})

// A device that is always full, as Linux has it.
test.skipIf(!existsSync('/dev/full'))('what cannot be written is said in one line', async () => {
  using bundle = await buildTestBundle()
  for (const command of ['--help', 'completion bash', 'context'])
    expect(await runLine(`dlq ${command} > /dev/full`, bundle), command).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^dlq: the output cannot be written: ENOSPC.*\n$/),
    })
  expect(await runLine('set -o pipefail; dlq --help | head -n 1', bundle)).toMatchObject({
    code: 0,
    stderr: '',
  })
})
