// Somebody who goes through a flow of the console and is counted. A step is one click, tap or key chord; typing or
// pasting one text is one step; looking costs nothing. A flow's limit is what it may cost at three in the morning.

import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'

/** With `keyboard` nothing can be clicked; with `touch` a click is a tap. */
export type Hand = 'mouse' | 'keyboard' | 'touch'

export type CountedSteps = {
  /** What was done, in words, in its order. */
  readonly steps: readonly string[]
  click(target: Locator): Promise<void>
  /** A key chord, as Playwright writes it: "e", "Shift+p", "ControlOrMeta+Enter". */
  press(chord: string): Promise<void>
  /** Into what has the focus, or into a field that is in sight: filling one field of a form is one step. */
  type(text: string, into?: Locator): Promise<void>
  /** Fails with the list of steps where there are more. */
  expectAtMost(limit: number): void
  /** Begins to count anew: the next flow. */
  restart(): void
}

/** The element with the focus, also within shadow roots, takes text. */
const takesText = `(() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element?.matches('input, textarea') || element?.isContentEditable === true
})()`

export function countSteps(page: Page, hand: Hand): CountedSteps {
  let steps: string[] = []
  return {
    get steps() {
      return steps
    },
    async click(target) {
      if (hand === 'keyboard') throw new Error(`by keyboard alone nothing is clicked: ${target}`)
      steps.push(`${hand === 'touch' ? 'tap' : 'click'} ${target}`)
      await (hand === 'touch' ? target.tap() : target.click())
    },
    async press(chord) {
      if (hand === 'touch') throw new Error(`a phone has no key ${chord}`)
      steps.push(`press ${chord}`)
      await page.keyboard.press(chord)
    },
    async type(text, into) {
      if (into !== undefined) {
        if (hand === 'keyboard') throw new Error(`by keyboard alone the focus has to be there already: ${into}`)
        await into.focus()
      }
      // Whoever types has seen the cursor.
      await eventually(async () => expect(await page.evaluate(takesText), 'a field has the focus').toBe(true))
      steps.push(`type ${JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)}`)
      await page.keyboard.insertText(text)
    },
    expectAtMost(limit) {
      const message = `at most ${limit} steps; these were ${steps.length}:\n  ${steps.join('\n  ')}`
      expect(steps.length, message).toBeLessThanOrEqual(limit)
    },
    restart() {
      steps = []
    },
  }
}
