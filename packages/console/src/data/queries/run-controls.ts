// What an operator asks of a run that is active.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { actOnRun, changeRunRate, type Run, type RunAction, runQuery } from './runs.ts'

/** Asks for changes of the run, and reads it and the list again afterwards. */
export function useRunControls({ id, status }: Run) {
  const client = useQueryClient()
  const onSettled = async () => {
    await client.invalidateQueries({ queryKey: runQuery(id).queryKey })
    await client.invalidateQueries({ queryKey: ['runs'] })
  }
  const act = useMutation({ mutationFn: (action: RunAction) => actOnRun(id, action), onSettled })
  const rate = useMutation({ mutationFn: (value: number | null) => changeRunRate(id, value), onSettled })
  const paused = status === 'paused'
  return {
    paused,
    isPending: act.isPending,
    fault: act.error ?? rate.error,
    onSettled,
    toggle: () => act.mutate(paused ? 'resume' : 'pause'),
    cancel: () => act.mutate('cancel'),
    changeRate: rate.mutate,
  }
}
