// What one page costs beside another: both read over and over, in turns.

import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import type { BenchRun } from '../measure/bench-run.ts'
import { cpuSecondsOf } from '../measure/process-usage.ts'
import { median } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'

/** `path`: of a page that answers 200. */
export type Page = { name: string; api: ServiceProcess; path: string }

/** Prints a table. The first page is the floor. */
export async function benchPages(run: BenchRun, count: number, pages: readonly [Page, ...Page[]]): Promise<void> {
  const taken = pages.map((page) => ({ page, ms: [] as number[], cpuMs: [] as number[] }))
  for (const page of pages) {
    await page.api.ready()
    await read(page, count)
  }
  // One after the other in every round, so that all meet the same machine.
  for (let round = 0; round < run.rounds; round += 1)
    for (const { page, ms, cpuMs } of taken) {
      const before = cpuSecondsOf(page.api.pid) ?? 0
      const startedAt = performance.now()
      await read(page, count)
      ms.push((performance.now() - startedAt) / count)
      cpuMs.push((((cpuSecondsOf(page.api.pid) ?? 0) - before) * 1000) / count)
    }
  const [floor] = taken as [(typeof taken)[number]]
  run.print(
    formatTable(
      ['', 'ms a page', 'of floor', 'API CPU ms', 'of floor'],
      taken.map(({ page, ms, cpuMs }) => [
        page.name,
        formatNumber(median(ms), 2),
        formatNumber(median(ms) / median(floor.ms), 2),
        formatNumber(median(cpuMs), 2),
        formatNumber(median(cpuMs) / median(floor.cpuMs), 2),
      ]),
    ),
  )
}

async function read({ api, path }: Page, count: number): Promise<void> {
  for (let page = 0; page < count; page += 1) {
    const answer = await fetch(api.url + path)
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
  }
}
