// A run as it goes, by server-sent events: one stream per page that is seen, closed when the tab is hidden.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { apiBase, lastAnswerAt } from './api.ts'
import { livePaused } from './live.ts'
import { type Run, runQuery } from './queries/runs.ts'
import { useStore } from './store.ts'

export function useRunEvents(id: string, active: boolean): void {
  const client = useQueryClient()
  const paused = useStore(livePaused)
  useEffect(() => {
    if (!active || paused) return
    let source: EventSource | null = null
    const onEvent = (event: MessageEvent<string>) => {
      lastAnswerAt.set(Date.now())
      const { queryKey } = runQuery(id)
      const told = JSON.parse(event.data) as Partial<Run>
      client.setQueryData<Run>(queryKey, (known) => {
        if (known === undefined) return known
        // An event says what has changed; what only the answer for one run has, stays.
        const { held_up_by, arrived_since, ...rest } = told
        return {
          ...known,
          ...rest,
          ...(held_up_by == null ? {} : { held_up_by }),
          ...(arrived_since == null ? {} : { arrived_since }),
        }
      })
      if (told.status !== undefined && ['completed', 'cancelled', 'failed'].includes(told.status))
        void client.invalidateQueries({ queryKey })
    }
    const open = () => {
      source = new EventSource(`${apiBase}/api/v1/runs/${encodeURIComponent(id)}/events`, { withCredentials: true })
      source.addEventListener('progress', onEvent)
    }
    const onVisibility = () => {
      source?.close()
      source = null
      if (!document.hidden) open()
    }
    onVisibility()
    document.addEventListener('visibilitychange', onVisibility)
    return () => {
      document.removeEventListener('visibilitychange', onVisibility)
      source?.close()
    }
  }, [active, paused, id, client])
}
