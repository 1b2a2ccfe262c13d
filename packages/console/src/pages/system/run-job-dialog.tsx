// Asks for an execution of a job, now.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { say } from '../../components/toasts.tsx'
import { runCronJob } from '../../data/queries/system.ts'

export function RunJobDialog({ job, onClose }: { job: string; onClose: () => void }) {
  const client = useQueryClient()
  const run = useMutation({
    mutationFn: (reason: string) => runCronJob(job, reason),
    onSuccess: async () => {
      onClose()
      say(`A retrier will run ${job}`)
      await client.invalidateQueries({ queryKey: ['cron'] })
    },
  })
  return (
    <AskDialog
      title={`Run ${job} now?`}
      verb="Run it now"
      reason="offered"
      isPending={run.isPending}
      error={run.error}
      onClose={onClose}
      onGo={(reason) => run.mutate(reason)}
    >
      <p>A retrier runs it, after any execution of the same job that is under way. The schedule stays as it is.</p>
    </AskDialog>
  )
}
