// For valibot a list is an object, whose fields are `length` and what all lists inherit: `filter`, `keys`, `values`.

import type * as v from 'valibot'

type Parts = {
  type: string
  wrapped?: v.GenericSchema
  item?: v.GenericSchema
  entries?: Record<string, v.GenericSchema>
}

/**
 * The paths of lists where an object is expected, such as `selection.filter`. Not within unions: their objects have fields
 * that must be given, and that no list has.
 */
export function misplacedLists(schema: v.GenericSchema, input: unknown, path = ''): string[] {
  const { type, wrapped, item, entries } = schema as unknown as Parts
  if (wrapped) return misplacedLists(wrapped, input, path)
  if (typeof input !== 'object' || input === null) return []
  const below = (key: string | number) => (path === '' ? `${key}` : `${path}.${key}`)
  if (type === 'array' && item && Array.isArray(input))
    return input.flatMap((one, at) => misplacedLists(item, one, below(at)))
  if (!entries) return []
  if (Array.isArray(input)) return [path]
  return Object.entries(entries).flatMap(([key, entry]) =>
    Object.hasOwn(input, key) ? misplacedLists(entry, (input as Record<string, unknown>)[key], below(key)) : [],
  )
}
