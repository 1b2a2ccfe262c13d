// Where rows were written early in vain (early-rows.ts): what their transaction found made them read once more. So the next
// batches of that partition are not tried.

import { type PartitionPlace, partitionKey } from 'dlq-core/domain/record/record-place.ts'

export type Setbacks = {
  note(place: PartitionPlace): void
  /** Whether the partition's next batch may be tried. */
  mayTry(place: PartitionPlace): boolean
}

/** Batches for each one that was read twice. */
const passedOver = 20

export function createSetbacks(): Setbacks {
  const left = new Map<string, number>()
  return {
    note(place) {
      left.set(partitionKey(place), passedOver)
    },
    mayTry(place) {
      const key = partitionKey(place)
      const count = left.get(key)
      if (count === undefined) return true
      if (count > 1) left.set(key, count - 1)
      else left.delete(key)
      return false
    },
  }
}
