// The Chromium that drives the console in tests: the one that CHROMIUM_PATH names, an installed one, or the one that
// npm brings, so that the tests need nothing but `npm install`.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type FoundBrowser = { executablePath: string; env: NodeJS.ProcessEnv }

const installedNames = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome-headless-shell',
]
const devDir = fileURLToPath(new URL('../../../../.dev/', import.meta.url))

export async function findBrowser(env = process.env): Promise<FoundBrowser> {
  const named = env.CHROMIUM_PATH
  if (named) return { executablePath: named, env }
  const installed = (env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => installedNames.map((name) => join(folder, name)))
    .find((path) => existsSync(path))
  return installed === undefined ? unpack(env) : { executablePath: installed, env }
}

/** Unpacking takes about 15 s, so the result is kept. It is moved to its place whole: runs side by side never see half. */
async function unpack(env: NodeJS.ProcessEnv): Promise<FoundBrowser> {
  // The package exports no package.json.
  const manifest = new URL('../../node_modules/@sparticuz/chromium/package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  const place = join(devDir, `chromium-${version}`)
  if (!existsSync(place)) {
    const { default: chromium } = await import('@sparticuz/chromium')
    const making = `${place}.${process.pid}`
    mkdirSync(making, { recursive: true })
    // The package unpacks into the temporary folder, whatever that is now.
    const former = process.env.TMPDIR
    process.env.TMPDIR = making
    try {
      await chromium.executablePath()
    } finally {
      if (former === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = former
    }
    try {
      renameSync(making, place)
    } catch (error) {
      rmSync(making, { recursive: true, force: true })
      if (!existsSync(place)) throw error
    }
  }
  // A machine without fonts cannot draw text.
  const fonts = existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: join(place, 'fonts') }
  return { executablePath: join(place, 'chromium'), env: { ...env, ...fonts } }
}
