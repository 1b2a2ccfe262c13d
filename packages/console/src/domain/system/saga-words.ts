// A workflow in words.

import { counted } from '../words.ts'

export type SagaFacts = {
  readonly status: string
  readonly steps: readonly {
    readonly action: string
    readonly completed_at: string | null
    readonly step_name: string
  }[]
}

export function sagaVerdict({ status, steps }: SagaFacts): string {
  const taken = steps.filter(({ action, completed_at }) => action === 'EXECUTE' && completed_at !== null).length
  const done = `${counted(taken, 'step is', 'steps are')} taken`
  const now = steps.find(({ completed_at }) => completed_at === null)?.step_name
  switch (status) {
    case 'STARTED':
      return 'It waits for a retrier to begin.'
    case 'RUNNING':
      return now === undefined ? `It runs: ${done}.` : `It runs: ${done}, and ${now} is under way.`
    case 'COMPLETED':
      return `It is at its end: ${done}.`
    case 'COMPENSATING':
      return `It is being cancelled: ${done}, and what can be taken back is.`
    case 'CANCELLED':
      return `It was cancelled: ${done}, and what could be taken back was.`
    case 'FAILED':
      return `It failed: ${done}.`
    default:
      return `${status}: ${done}.`
  }
}
