// Which places of a JSON value a mask hides. The JSON Pointers of a mask (`*` is one step, `**` any number of them) become
// states that are followed step by step, so that a value is walked once, whatever the number of pointers.

import { nameOfStep } from '../record/json-patch.ts'

const one = Symbol('*')
const deep = Symbol('**')
type Step = string | typeof one | typeof deep
export type MaskPath = readonly Step[]

// The steps of a pointer such as "/cards/*/number"; null where it is none. The empty text is the whole value.
export function parseMaskPath(pointer: string): MaskPath | null {
  if (!/^(\/([^~/]|~[01])*)*$/.test(pointer)) return null
  return pointer
    .split('/')
    .slice(1)
    .map((step) => {
      if (step === '*') return one
      return step === '**' ? deep : nameOfStep(step)
    })
}

/** A place in a value, seen by a mask. Equal states are the same object. */
export type PathState = {
  /** The place is hidden, with all beneath it. */
  readonly hidden: boolean
  /** Nothing at the place or beneath it is hidden. */
  readonly clear: boolean
  /** A text, a number, a boolean or null at this place is hidden. */
  readonly leafHidden: boolean
  /** The mask names something beneath this place, not only by a `**` that goes for many places. */
  readonly namesBeneath: boolean
  /** The place of the member of that name. */
  member(name: string): PathState
  /** The place of an element of a list. Its position counts as `*`, and as every number. */
  element(): PathState
}

/** A path, the step that comes next, and whether a `**` has swallowed a step since the last step that has a name. */
type Position = { path: number; at: number; roams: boolean }

/** The place of the whole value. What any of the entries hides is hidden; `shows` has one list for each entry that has one. */
export function compileMaskPaths({
  hide,
  shows,
}: {
  hide: readonly MaskPath[]
  shows: readonly (readonly MaskPath[])[]
}): PathState {
  const paths = [...hide, ...shows.flat()]
  const groups = [hide, ...shows].map((group, index, all) => {
    const first = all.slice(0, index).reduce((sum, { length }) => sum + length, 0)
    return group.map((_, at): Position => ({ path: first + at, at: 0, roams: false }))
  })
  const known = new Map<string, PathState>()

  /** Null in place of a list's positions: one of its paths has matched, here or above. */
  const stateOf = (given: readonly (readonly Position[] | null)[]): PathState => {
    const reached = given.map((positions) => positions && closed(positions, paths))
    const hasEnded = (positions: readonly Position[]) => positions.some(({ path, at }) => at === paths[path]!.length)
    const [hiding, ...showing] = reached.map((positions) => (positions && !hasEnded(positions) ? positions : null))
    const undecided = showing.filter((positions) => positions !== null)
    const hidden = hiding === null || undecided.some((positions) => positions.length === 0)
    const key = hidden ? 'hidden' : JSON.stringify([hiding, showing])
    const before = known.get(key)
    if (before) return before
    const alive = [hiding ?? [], ...showing]
    const literals = new Set(
      alive.flatMap((positions) => (positions ?? []).map(({ path, at }) => paths[path]![at]!)).filter(isName),
    )
    const after = (matches: (step: string) => boolean) =>
      stateOf(alive.map((positions) => positions && advanced(positions, paths, matches)))
    // Null: not met yet.
    const members = new Map<string, PathState | null>([...literals].map((name) => [name, null]))
    let other: PathState | undefined
    let element: PathState | undefined
    const state: PathState = {
      hidden,
      clear: !hidden && hiding!.length === 0 && undecided.length === 0,
      leafHidden: hidden || undecided.length > 0,
      namesBeneath: !hidden && hiding!.some(({ roams }) => !roams),
      member(name) {
        if (hidden) return state
        const known = members.get(name)
        if (known) return known
        if (known === undefined) {
          other ??= after(() => false)
          return other
        }
        const met = after((step) => step === name)
        members.set(name, met)
        return met
      },
      element() {
        if (hidden) return state
        element ??= after(isPosition)
        return element
      },
    }
    known.set(key, state)
    return state
  }
  return stateOf(groups)
}

/** Whether a step of a pointer can be a position in a list. */
export function isPosition(step: string): boolean {
  return /^(\d+|-)$/.test(step)
}

function isName(step: Step): step is string {
  return typeof step === 'string'
}

/** With the positions behind each `**`, which may stand for no step at all. */
function closed(positions: readonly Position[], paths: readonly MaskPath[]): Position[] {
  const found = new Map<string, Position>()
  const add = (position: Position) => {
    const { path, at, roams } = position
    const key = `${path}:${at}:${roams}`
    if (found.has(key)) return
    found.set(key, position)
    if (paths[path]![at] === deep) add({ path, at: at + 1, roams })
  }
  for (const position of positions) add(position)
  return [...found.values()].sort((a, b) => a.path - b.path || a.at - b.at || Number(a.roams) - Number(b.roams))
}

function advanced(
  positions: readonly Position[],
  paths: readonly MaskPath[],
  matches: (step: string) => boolean,
): Position[] {
  return positions.flatMap(({ path, at, roams }): Position[] => {
    const step = paths[path]![at]
    if (step === deep) return [{ path, at, roams: true }]
    if (step === one) return [{ path, at: at + 1, roams }]
    return step !== undefined && matches(step) ? [{ path, at: at + 1, roams: false }] : []
  })
}
