// What an operator asks of a run that is active.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { readingAgain } from '../query-client.ts'
import { actOnRun, changeRunRate, type Run, type RunAction, runQuery } from './runs.ts'

/** `status`: how the run stood for who asked. Without an action the rate is meant. */
type Asked = { status: Run['status']; action?: RunAction; rate?: number | null }

/** Asks for changes of the run, and reads it and the list again afterwards. */
export function useRunControls({ id, status }: Run) {
  const client = useQueryClient()
  const [refused, setRefused] = useState<{ error: Error; asked: Asked } | null>(null)
  const settled = readingAgain(client, [runQuery(id).queryKey, ['runs']])
  const change = useMutation({
    mutationFn: ({ action, rate }: Asked) =>
      action === undefined ? changeRunRate(id, rate ?? null) : actOnRun(id, action),
    onSettled: async (data, error, asked) => {
      await settled(data, error)
      setRefused(error === null ? null : { error, asked })
    },
  })
  // What was refused because the run stands otherwise than the page knew is answered by what the page shows now.
  if (refused !== null && refused.asked.status !== status) setRefused(null)
  const paused = status === 'paused'
  return {
    paused,
    isPending: change.isPending && change.variables.action !== undefined,
    error: refused?.error ?? null,
    settled,
    toggle: () => change.mutate({ status, action: paused ? 'resume' : 'pause' }),
    cancel: () => change.mutate({ status, action: 'cancel' }),
    changeRate: (rate: number | null) => change.mutate({ status, rate }),
  }
}
