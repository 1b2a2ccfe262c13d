// For tests of locks, which show nothing until a statement waits for one.
import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import type { TestDatabase } from './test-database.ts'

/** Resolves once `count` sessions of the database wait for a lock. */
export async function untilWaitingForLock({ sql }: Pick<TestDatabase, 'sql'>, count = 1): Promise<void> {
  const waiting = () => sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await eventually(async () => expect(await waiting()).toHaveLength(count), { intervalMs: 10 })
}
