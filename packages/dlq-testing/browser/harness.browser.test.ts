// What the harness itself must catch, in the console as it is served.

import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { useConsole, watchFaults } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'

const console_ = useConsole()

test('an error, a broken policy and a foreign request are each reported', async () => {
  const foreign = createServer((_, response) => response.end('{}'))
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve))
  const { port } = foreign.address() as { port: number }
  const origin = console_.fleet.open
  const context = await console_.browser.newContext()
  try {
    const faults: string[] = []
    await watchFaults(context, { origin, report: (fault) => faults.push(fault) })
    const page = await context.newPage()
    await page.goto(`${origin}/console/`)
    const does = async (script: string, fault: RegExp) => {
      faults.length = 0
      // As a script of the page does it, after it has been loaded.
      await page.evaluate(script)
      await eventually(() => expect(faults.join('\n')).toMatch(fault))
    }
    await does('console.error("broken")', /^console: broken/m)
    await does('void Promise.reject(new Error("lost"))', /^unhandled: .*lost/m)
    await does('setTimeout(() => { throw new Error("thrown") })', /^unhandled: .*thrown/m)
    await does(
      'document.body.append(Object.assign(document.createElement("style"), { textContent: "a{}" }))',
      /policy: style-src/,
    )
    await does('document.body.insertAdjacentHTML("beforeend", "<b></b>")', /policy: require-trusted-types-for/)
    await does(`fetch("http://127.0.0.1:${port}/").catch(() => {})`, /^content policy: connect-src/m)
    await does(`open("http://127.0.0.1:${port}/page")`, /^foreign request: .*\/page/m)
  } finally {
    await context.close()
    foreign.close()
  }
})
