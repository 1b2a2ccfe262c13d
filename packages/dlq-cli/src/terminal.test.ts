import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

// util-linux has a terminal for tests: what comes in is typed, and its end is Ctrl-D.
test.skipIf(!existsSync('/usr/bin/script'))(
  'a question is a line of text, and Ctrl-D cancels as Ctrl-C does',
  async () => {
    const survey = {
      ...{ matched: { value: 2, relation: 'eq' }, eligible: 2, complete: true },
      ...{ ineligible: {}, remedies: {}, topics: { orders: 2 }, groups: {} },
    }
    const server = createServer((_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(survey)),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    using bundle = await buildTestBundle()
    const env = { DLQ_API: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, TERM: 'xterm' }
    const asked = (typed: string, n: number) => {
      const typeThen = `until grep -qs y/N shown-${n}; do sleep 0.1; done; ${typed}`
      return runLine(`(${typeThen}) | script -qfec 'dlq replay --topic orders' shown-${n}`, bundle, env)
    }
    const [refused, left, cancelled] = await Promise.all(['echo n', 'true', "printf '\\003'"].map(asked))
    server.close()
    const question = /^2 messages to orders 2\r\nRetry 2 messages\? \[y\/N\] /
    for (const { stdout } of [refused!, left!, cancelled!]) expect(stdout).toMatch(question)
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/dlq: nothing was started\r\n$/) })
    for (const ended of [left, cancelled])
      expect(ended).toMatchObject({ code: 130, stdout: expect.stringMatching(/dlq: nothing was changed\r\n$/) })
  },
)
