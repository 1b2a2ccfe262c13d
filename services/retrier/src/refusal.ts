// Whether PostgreSQL refuses what the slots of this process ask for. They try again, which helps once somebody has run the
// migrations or granted the right; meanwhile the fleet's status and readiness say why nothing is sent.

import { isStatementRefused, messageWithHint } from 'dlq-core/runtime/database/database-errors.ts'

export type Refusal = ReturnType<typeof createRefusal>

export function createRefusal() {
  let why: string | null = null
  return {
    /** Other faults change nothing: they say nothing of the statements. */
    failed(error: unknown): void {
      if (isStatementRefused(error)) why = `cannot publish: ${messageWithHint(error)}`
    },
    succeeded(): void {
      why = null
    },
    fault: () => why,
  }
}
