// Which messages of a list are selected. They stay so while one of them is looked at, until a run has begun with them, or
// the list has another filter.

import { useEffect } from 'react'
import { createStore, useStore } from '../store.ts'

type Ids = ReadonlySet<string>

const none: Ids = new Set()
/** `list`: the filter of the list, as the address has it. */
const chosen = createStore<{ list: string; ids: Ids }>({ list: '', ids: none })

export function useChosen(list: string): [Ids, (ids: Ids) => void] {
  const { list: of, ids } = useStore(chosen)
  useEffect(() => {
    if (chosen.get().list !== list) chosen.set({ list, ids: none })
  }, [list])
  return [of === list ? ids : none, (ids) => chosen.set({ list, ids })]
}

export function dropChosen(): void {
  chosen.set({ list: '', ids: none })
}
