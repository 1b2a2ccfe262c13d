// A run as it goes, by server-sent events: one stream per page that is seen, closed when the tab is hidden.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { activeStatuses } from '../domain/runs.ts'
import { apiBase, lastAnswerAt } from './api.ts'
import { livePaused } from './live.ts'
import { activeRunsQuery, type Run, runQuery } from './queries/runs.ts'
import { serverNow } from './server-clock.ts'
import { useStore } from './store.ts'

export function useRunEvents(id: string, active: boolean): void {
  const client = useQueryClient()
  const paused = useStore(livePaused)
  useEffect(() => {
    if (!active || paused) return
    let source: EventSource | null = null
    const onEvent = (event: MessageEvent<string>) => {
      lastAnswerAt.set(serverNow())
      const { queryKey } = runQuery(id)
      const told = JSON.parse(event.data) as Partial<Run>
      // An event says what has changed; what only the answer for one run has, stays.
      const { held_up_by, arrived_since, ...rest } = told
      const after = (known: Run): Run => ({
        ...known,
        ...rest,
        ...(held_up_by == null ? {} : { held_up_by }),
        ...(arrived_since == null ? {} : { arrived_since }),
      })
      client.setQueryData<Run>(queryKey, (known) => known && after(known))
      // The bar says what the page says: a run that its canary has paused is not paused there some seconds later.
      client.setQueryData(activeRunsQuery.queryKey, (runs) =>
        runs?.map((run) => (run.id === id ? after(run) : run)).filter((run) => activeStatuses.has(run.status)),
      )
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
