// Parts of the console are files of the server, and are loaded when they are needed. One that does not come is asked for
// again; a reload would lose the page where nobody answers.

import { rawRequest } from './api.ts'
import { pageBuild } from './session.ts'

/** `away`: nobody answers. `newer`: the server has another build. `broken`: it has this one, and not the part. */
export type PartFault = 'away' | 'newer' | 'broken'

/** Vite asks for a stylesheet once, also where it did not come. */
const lostStyles = new Set<HTMLLinkElement>()
window.addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') lostStyles.add(target)
  },
  true,
)

export async function loadPart<Part>(load: () => Promise<Part>): Promise<{ part: Part } | { fault: PartFault }> {
  const first = await attempt(load)
  if (first !== null) return first
  const build = await servedBuild()
  if (build === undefined) return { fault: 'away' }
  if (pageBuild() !== null && build !== pageBuild()) return { fault: 'newer' }
  // It answers again: only that moment was bad.
  return (await attempt(load)) ?? { fault: 'broken' }
}

async function attempt<Part>(load: () => Promise<Part>): Promise<{ part: Part } | null> {
  try {
    await Promise.all([...lostStyles].map(bringStyle))
    return { part: await load() }
  } catch {
    return null
  }
}

function bringStyle(lost: HTMLLinkElement): Promise<void> {
  const link = lost.cloneNode() as HTMLLinkElement
  lostStyles.delete(lost)
  return new Promise((resolve, reject) => {
    link.addEventListener('load', () => resolve())
    link.addEventListener('error', () => reject(new Error(`no ${link.href}`)))
    lost.replaceWith(link)
  })
}

/** The build that the server has now; undefined where it does not say. */
async function servedBuild(): Promise<string | null | undefined> {
  try {
    const response = await rawRequest('/console/config.json')
    return response.ok ? ((await response.json()) as { build: string | null }).build : undefined
  } catch {
    return undefined
  }
}
