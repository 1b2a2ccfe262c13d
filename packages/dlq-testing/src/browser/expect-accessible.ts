// axe-core over a page: every rule of WCAG 2.2 AA that a program can check.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { screens } from './screens.ts'

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Fails with a line for each element that breaks a rule. */
export async function expectAccessible(page: Page): Promise<void> {
  // Through the debugger's protocol, because the page's content policy lets in no script of ours.
  const session = await page.context().newCDPSession(page)
  try {
    const evaluate = async (expression: string) => {
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
        ...{ expression, awaitPromise: true, returnByValue: true },
      })
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value as unknown
    }
    await evaluate(`globalThis.axe === undefined && (() => { ${source} })()`)
    const options = JSON.stringify({ runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] })
    const violations = await evaluate(`
      axe.run(document, ${options}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => id + ': ' + target.join(' ') + ': ' + failureSummary)))`)
    expect(violations).toEqual([])
  } finally {
    await session.detach()
  }
}

/** The same in light and in dark, wide and narrow. The page is wide and light afterwards. */
export async function expectAccessibleInEachLook(page: Page): Promise<void> {
  try {
    for (const { viewport } of [screens.phone, screens.desktop]) {
      await page.setViewportSize(viewport)
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await expectAccessible(page)
      }
    }
  } catch (error) {
    const { width } = page.viewportSize()!
    const dark = await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches')
    throw new Error(`${page.url()}, ${width} px, ${dark ? 'dark' : 'light'}`, { cause: error })
  }
}
