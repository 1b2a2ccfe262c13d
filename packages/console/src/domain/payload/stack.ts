// A stack trace in sections, the root cause first: own frames stand out, frames of libraries are folded. The rules that
// tell them apart are those of the grouping.

import {
  isDotnetLibrary,
  isGoLibrary,
  isJavascriptLibrary,
  isJvmLibrary,
  isPythonLibrary,
} from 'dlq-core/domain/grouping/library-frame.ts'

export type Frame = { readonly text: string; readonly own: boolean }

export type StackSection = {
  /** "Caused by: com.example.Refused: no"; the first line of the trace for the outermost error. */
  readonly title: string
  readonly frames: readonly Frame[]
}

const causedBy = /^\s*(?:Caused by|\[cause\])\s*:|^\s*-+> /
const frame = /^\s+at |^\s*File "|^goroutine |^\s+\S+\.go:\d+/

/** The innermost cause first. A text without frames is one section without frames. */
export function stackSections(trace: string): StackSection[] {
  const sections: { title: string; frames: Frame[] }[] = []
  for (const line of trace.split('\n')) {
    if (line.trim() === '') continue
    const current = sections.at(-1)
    if (current !== undefined && frame.test(line)) current.frames.push({ text: line.trim(), own: isOwn(line) })
    else if (current === undefined || causedBy.test(line)) sections.push({ title: line.trim(), frames: [] })
    // A message of several lines, or "... 12 more".
    else if (current.frames.length === 0) current.title += `\n${line.trimEnd()}`
    else current.frames.push({ text: line.trim(), own: false })
  }
  return sections.reverse()
}

function isOwn(line: string): boolean {
  const python = /^\s*File "([^"]+)"/.exec(line)
  if (python !== null) return !isPythonLibrary(python[1]!)
  const go = /^\s+(\S+\.go):\d+/.exec(line)
  if (go !== null) return !isGoLibrary('', go[1]!)
  const place = line.replace(/^\s*at\s+(?:async )?/, '')
  const net = /^(.+?)\(.*\)(?: in (.+):line \d+)?\s*$/.exec(place)
  if (/:line \d+\s*$/.test(line)) return net === null || !isDotnetLibrary(net[1]!)
  const jvm =
    /^([\w$.<>/@-]+)\((?:[\w$-]+\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source|[\w$-]+\.(?:java|kt|scala))\)/.exec(
      place,
    )
  if (jvm !== null) return !isJvmLibrary(jvm[1]!.replace(/^.*\//, ''))
  const javascript = /(?:\(|^)((?:file:\/\/|node:|\/|[A-Za-z]:\\|webpack|<)[^()]*?|[\w./-]+?)(?::\d+)*\)?$/.exec(place)
  return javascript !== null && !isJavascriptLibrary(javascript[1]!.replace(/^file:\/\//, ''))
}

export type FrameRun = { readonly own: boolean; readonly frames: readonly Frame[] }

/** Frames in runs of own ones and of libraries: a run of libraries is folded. */
export function frameRuns(frames: readonly Frame[]): FrameRun[] {
  const runs: { own: boolean; frames: Frame[] }[] = []
  for (const one of frames) {
    const last = runs.at(-1)
    if (last?.own === one.own) last.frames.push(one)
    else runs.push({ own: one.own, frames: [one] })
  }
  return runs
}

/** The first `most` lines: own frames have one each, a run of libraries is folded into one. `left`: frames that follow. */
export function firstRuns(runs: readonly FrameRun[], most: number): { runs: FrameRun[]; left: number } {
  const first: FrameRun[] = []
  let lines = 0
  for (const run of runs) {
    if (lines >= most) break
    first.push(run.own ? { own: true, frames: run.frames.slice(0, most - lines) } : run)
    lines += run.own ? run.frames.length : 1
  }
  const count = (some: readonly FrameRun[]) => some.reduce((sum, { frames }) => sum + frames.length, 0)
  return { runs: first, left: count(runs) - count(first) }
}

/** "at takePayment (file:///…/demo/take-payment.ts:24:31)" is "takePayment (demo/take-payment.ts:24:31)". */
export function shortFrame(text: string): string {
  return text.replace(/^at\s+/, '').replace(/(?:file:\/\/)?(?:\/[^\s/()]+)+\/([^\s/()]+\/[^\s/()]+)/, '$1')
}
