// What messages hold leaves the memory of a tab that nobody looks at.

import { expect, test } from 'vitest'
import { insertGroupedRow } from '../src/browser/grouped-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'

const console_ = useConsole()

test('a tab that nobody has looked at for half an hour holds no value, and shows it again when somebody does', async () => {
  const id = await insertGroupedRow(console_, {
    ...{ original_topic: 'browser.idle.orders', error_message: 'no account' },
    record_value: Buffer.from('{"secret":"kept-away"}'),
  })
  const page = await console_.open(`/messages/${id}`)
  const value = page.getByText('"kept-away"').first()
  await value.waitFor()
  await page.clock.install()
  const turn = (state: string) =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  await turn('hidden')
  await page.clock.fastForward('29:00')
  await value.waitFor()
  await page.clock.fastForward('02:00')
  await value.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain('kept-away')
  await turn('visible')
  await page.clock.runFor(5000)
  await value.waitFor()
})
