// Pages of the console in a real browser, for `*.browser.test.ts`. A test fails where one of its pages writes an error
// to the browser's console, leaves a rejection unhandled, breaks the content policy, or asks another origin for anything.

import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { type ConsoleFleet, giveBackConsoleFleet, takeConsoleFleet } from './console-fleet.ts'
import { screens } from './screens.ts'

export type Viewer = {
  /** Signs in by this token before the page opens, at the API that asks for one; otherwise the open API is used. */
  as?: keyof ConsoleFleet['tokens']
  /** Another API, such as one that the test has started. */
  url?: string
  /** `phone` is 390 × 844 with touch. */
  screen?: keyof typeof screens
  colors?: 'light' | 'dark' | 'forced'
  /** Faults that the test provokes. */
  expected?: readonly RegExp[]
}

export type TestConsole = {
  readonly fleet: ConsoleFleet
  /** Of the fleet's database. */
  readonly sql: postgres.Sql
  readonly browser: Browser
  /** Opens a page below /console/ in a browser context of its own, which ends with the test. */
  open(path: string, viewer?: Viewer): Promise<Page>
}

/** A busy machine may need longer than Playwright's 30 s. */
const patienceMs = 60_000

/** Call once at the top of a `.browser.test.ts`, before other hooks. */
export function useConsole(): TestConsole {
  let fleet: ConsoleFleet | undefined
  let opened: { browser: Browser; sql: postgres.Sql } | undefined
  let contexts: { context: BrowserContext; faults: string[] }[] = []
  const useFleet = () => {
    if (!fleet) throw new Error('useConsole(): the fleet is there only inside hooks and tests')
    return fleet
  }
  const use = () => {
    if (!opened) throw new Error('useConsole(): the browser is there only inside hooks and tests')
    return opened
  }

  beforeAll(async () => {
    fleet = await takeConsoleFleet(inject('consoleFleetAt'))
    const { browser, databaseUrl } = fleet
    const sql = postgres(databaseUrl, { max: 3, onnotice: () => {}, connection: { application_name: 'test' } })
    opened = { browser: await chromium.connect(browser), sql }
  })

  afterEach(async () => {
    const ended = contexts
    contexts = []
    await Promise.all(ended.map(({ context }) => context.close()))
    expect(ended.flatMap(({ faults }) => faults)).toEqual([])
  })

  afterAll(async () => {
    await opened?.browser.close()
    await opened?.sql.end({ timeout: 5 })
    if (fleet) await giveBackConsoleFleet(inject('consoleFleetAt'))
  })

  return {
    get fleet() {
      return useFleet()
    },
    get browser() {
      return use().browser
    },
    get sql() {
      return use().sql
    },
    async open(path, { as, url, screen = 'desktop', colors = 'light', expected = [] } = {}) {
      const fleet = useFleet()
      const origin = url ?? (as === undefined ? fleet.open : fleet.guarded)
      const context = await use().browser.newContext({
        ...screens[screen],
        baseURL: origin,
        locale: 'en-GB',
        timezoneId: 'UTC',
        colorScheme: colors === 'dark' ? 'dark' : 'light',
        forcedColors: colors === 'forced' ? 'active' : 'none',
      })
      const faults: string[] = []
      contexts.push({ context, faults })
      context.setDefaultTimeout(patienceMs)
      await watchFaults(context, {
        origin,
        report: (fault) => expected.some((known) => known.test(fault)) || faults.push(fault),
      })
      if (as !== undefined) await signIn(context, fleet.tokens[as])
      const page = await context.newPage()
      await page.goto(new URL(path.replace(/^\//, ''), `${origin}/console/`).href)
      return page
    },
  }
}

/** As the page's form does it. */
async function signIn(context: BrowserContext, token: string): Promise<void> {
  const answer = await context.request.post('/api/v1/session', { headers: { authorization: `Bearer ${token}` } })
  if (!answer.ok()) throw new Error(`signing in answered ${answer.status()}: ${await answer.text()}`)
}

/** Runs in each page before its own scripts. */
const reportViolations = `
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) =>
    reportViolation(violatedDirective + ' ' + blockedURI + ' at ' + sourceFile))`

/** Reports whatever no page of the console may do. */
export async function watchFaults(
  context: BrowserContext,
  { origin, report }: { origin: string; report: (fault: string) => unknown },
): Promise<void> {
  await context.exposeBinding('reportViolation', (_, violation: string) => report(`content policy: ${violation}`))
  await context.addInitScript({ content: reportViolations })
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (/^https?:|^wss?:/.test(url.protocol) && url.origin !== origin) report(`foreign request: ${url.href}`)
  })
  context.on('weberror', (error) => report(`unhandled: ${error.error().stack ?? error.error().message}`))
  context.on('console', (message) => {
    // What the API refuses is shown by the page, and a test of its own; Chromium writes a line for each.
    const isAnswer = /^Failed to load resource/.test(message.text()) && message.location().url.includes('/api/v1/')
    if (message.type() === 'error' && !isAnswer) report(`console: ${message.text()} at ${message.location().url}`)
  })
}
