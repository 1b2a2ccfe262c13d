// A list of a million messages, ten thousand rows of it scrolled through: frames, nodes and memory, printed. The limits are
// those of the console's design; a busy machine may miss those of frames, so they are judged by eye.

import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { storeMillionRows } from '../src/browser/million-rows.ts'
import { useConsole } from '../src/browser/use-console.ts'

const console_ = useConsole()
const total = Number(process.env.DLQ_MILLION_ROWS ?? 1_000_000)
const scrolledRows = 10_000
const rowPx = 52

test('ten thousand of a million rows are scrolled with few nodes and little memory', async () => {
  const startedAt = performance.now()
  await storeMillionRows(console_.sql, { total, topic: 'browser-million' })
  console.log(`${total} rows stored in ${Math.round((performance.now() - startedAt) / 1000)} s`)
  const page = await console_.open('/messages?topic=browser-million')
  await page.getByRole('row').nth(5).waitFor()
  await page.evaluate(watchFrames)
  const before = await memoryOf(page)
  let most = 0
  let full: number | null = null
  let seen: { y: number; row: string } | null = null
  for (let at = 0; at < scrolledRows * rowPx; ) {
    await page.mouse.move(700, 600)
    await page.mouse.wheel(0, 20 * rowPx)
    await page.evaluate('new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))')
    const { y, nodes } = (await page.evaluate(
      '({ y: scrollY, nodes: document.getElementsByTagName("*").length })',
    )) as { y: number; nodes: number }
    most = Math.max(most, nodes)
    at = y
    if (seen === null && at >= (scrolledRows / 4) * rowPx) {
      // More pages than are kept were read by now: from here on, memory does not grow.
      full = await memoryOf(page)
      seen = { y: at, row: await firstRow(page) }
    }
  }
  const frames = ((await page.evaluate('window.framesSeen')) as number[]).toSorted((a, b) => a - b)
  const share = (limit: number) => frames.filter((ms) => ms <= limit).length / frames.length
  const at = (quantile: number) => frames[Math.floor(frames.length * quantile)]!
  const after = await memoryOf(page)
  // Only the first page tells it, and that one was dropped long ago.
  await page.getByText(/messages match\.$/).waitFor()
  await expect.poll(() => firstRow(page)).not.toContain('Loading')
  await page.evaluate(`scrollTo(0, ${seen!.y})`)
  await expect.poll(() => firstRow(page), { timeout: 30_000 }).toBe(seen!.row)
  expect(await page.evaluate('scrollY')).toBe(seen!.y)
  await page.evaluate('scrollTo(0, 0)')
  await expect.poll(() => firstRow(page), { timeout: 30_000 }).toMatch(/^2\b.*(PENDING|RESOLVED|DEAD)/)
  console.log(
    [
      `scrolled ${scrolledRows} rows of ${total}: ${frames.length} frames,`,
      `${(share(25) * 100).toFixed(1)} % under 25 ms, median ${at(0.5).toFixed(1)} ms, 99 % ${at(0.99).toFixed(1)} ms;`,
      `${most} nodes at most; heap ${before} MB before, ${full} MB with all pages that are kept, ${after} MB after`,
    ].join(' '),
  )
  expect(most).toBeLessThanOrEqual(3000)
  expect(after).toBeLessThanOrEqual(150)
  expect(after - full!).toBeLessThanOrEqual(5)
})

const watchFrames = `(() => {
  window.framesSeen = []
  let last = performance.now()
  const frame = (now) => { window.framesSeen.push(now - last); last = now; requestAnimationFrame(frame) }
  requestAnimationFrame(frame)
})()`

/** The number and the text of the first row that is in the page. */
function firstRow(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const row = document.querySelector('tbody tr')
    return row.getAttribute('aria-rowindex') + ' ' + row.innerText.replace(/\\d+ [smhd] ago|\\s+/g, ' ')
  })()`)
}

/** MB of the page's heap after a collection. */
async function memoryOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return Math.round(usedSize / 1_000_000)
}
