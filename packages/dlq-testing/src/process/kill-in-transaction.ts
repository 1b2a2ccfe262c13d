// Kills a process while a transaction of its is open, behind a change of a table that the test names. Without this, a
// test that kills at random hardly ever hits the middle of one transaction.

import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import type { TestDatabase } from '../postgres/test-database.ts'
import type { WatchedProcess } from './watched-process.ts'

export type Moment = {
  /** The process dies behind a change of this table of schema dlq, before its transaction ends. */
  table: string
  /** An SQL condition that holds at that moment. */
  where?: string
  /** So many such changes go through before. */
  passed?: number
}

/** A retrier that was killed keeps its job until its lease is over. Here it is over at once. */
export async function endWorkerLeases({ sql }: Pick<TestDatabase, 'sql'>): Promise<void> {
  await sql`update dlq.dlq_workers set seen_at = '-infinity'`
}

const gateLock = 20_261_122

/** Starts the process, and ends it by SIGKILL at that moment. When this resolves, its transaction is rolled back. */
export async function killInTransaction(
  { sql }: Pick<TestDatabase, 'sql'>,
  { table, where = 'true', passed = 0 }: Moment,
  start: () => Promise<WatchedProcess>,
): Promise<void> {
  await sql.unsafe(`
    create sequence public.gate_passed;
    create function public.gate() returns trigger language plpgsql security definer as $$
    begin
      if (${where}) then
        if nextval('public.gate_passed') > ${passed} then
          perform pg_advisory_xact_lock_shared(${gateLock});
        end if;
      end if;
      return null;
    end;
    $$;
    create trigger zz_gate after insert or update or delete on dlq.${table} for each statement execute function public.gate()`)
  try {
    await sql.begin(async (sql) => {
      await sql`select pg_advisory_xact_lock(${gateLock})`
      const process = await start()
      await eventually(async () => {
        if (process.hasExited()) throw new Error(process.lastOutput())
        const waiting = await sql`
          select from pg_locks
          where locktype = 'advisory' and objid = ${gateLock} and not granted
            and database = (select oid from pg_database where datname = current_database())`
        expect(waiting.length, `transactions that wait behind a change of ${table}`).toBeGreaterThan(0)
      })
      await process.stop('SIGKILL', 0)
      expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' })
    })
  } finally {
    // Waits for the end of the transaction.
    await sql.unsafe(`
      drop trigger zz_gate on dlq.${table};
      drop function public.gate();
      drop sequence public.gate_passed`)
  }
}
