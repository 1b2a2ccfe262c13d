// Whether a question could be answered by something hidden. It is decided from the question and the mask alone: no count,
// no time and no error tells anything about the messages.

import type { InferOutput } from 'valibot'
import { type jsonPatchSchema, nameOfStep } from '../record/json-patch.ts'
import { heldJson } from './mask-json.ts'
import { isPosition, type PathState } from './mask-paths.ts'

/** Whether a value that contains the JSON, as the filter `payload` asks, would tell of something hidden. */
export function asksForHidden(json: string, root: PathState): boolean {
  const value: unknown = JSON.parse(json)
  // In jsonb, ["a"] contains "a".
  const isScalar = typeof value !== 'object' || value === null
  return hasHidden(value, root) || (isScalar && hasHidden(value, root.element()))
}

/**
 * Whether a leaf of the value, or of what a text in it holds as JSON, lies at a hidden place. An empty object asks only
 * whether there is an object.
 */
function hasHidden(given: unknown, state: PathState): boolean {
  if (state.hidden) return true
  if (state.clear) return false
  const value = typeof given === 'string' ? (heldJson(given) ?? given) : given
  if (typeof value !== 'object' || value === null) return state.leafHidden
  if (Array.isArray(value)) return value.some((element) => hasHidden(element, state.element()))
  return Object.entries(value).some(([name, member]) => hasHidden(member, state.member(name)))
}

type Operation = InferOutput<typeof jsonPatchSchema>[number]

/**
 * The first pointer of a JSON Patch that overlaps a mask; null where none does. What is not seen is not replaced, and
 * `test`, `copy` and `move` would tell of it or carry it to where it can be read.
 */
export function patchesHidden(patch: readonly Operation[], root: PathState): string | null {
  for (const operation of patch) {
    const at = statesAt(operation.path, root)
    const isRefused = at.some((state) => {
      if (state.hidden || state.namesBeneath) return true
      // Equality with something that names nothing hidden tells nothing of it.
      return operation.op === 'test' ? hasHidden(operation.value, state) : state.leafHidden
    })
    if (isRefused) return operation.path
    if ('from' in operation && statesAt(operation.from, root).some((state) => !state.clear)) return operation.from
  }
  return null
}

/** A number in a pointer is a member's name or a position. */
function statesAt(pointer: string, root: PathState): PathState[] {
  const steps = pointer.split('/').slice(1).map(nameOfStep)
  return steps.reduce<PathState[]>(
    (states, step) => [
      ...new Set(
        states.flatMap((state) => (isPosition(step) ? [state.member(step), state.element()] : [state.member(step)])),
      ),
    ],
    [root],
  )
}
