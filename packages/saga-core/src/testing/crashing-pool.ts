// A pool whose process dies: from the chosen statement on it sends nothing. An open transaction is rolled back; one
// that was committing may be committed without an answer.
import type postgres from 'postgres'
import type { Pool } from '../store/sql.ts'

export class Crash extends Error {}

export type CrashingPool = { pool: Pool; isDead: () => boolean; die: () => never }

/** `survives`: how many statements and commits it takes until the process dies. */
export function crashingPool(sql: postgres.Sql, survives: number): CrashingPool {
  let left = survives
  let dead = false
  const die = (): never => {
    dead = true
    throw new Crash('the process died')
  }
  const pass = () => {
    if (dead || left-- <= 0) die()
  }
  const wrap = <T extends object>(handle: T): T =>
    new Proxy(handle, {
      apply(target, _, args) {
        pass()
        return Reflect.apply(target as never as (...args: unknown[]) => unknown, undefined, args)
      },
      get(target, name) {
        if (name !== 'begin') return Reflect.get(target, name)
        return async (work: (sql: postgres.TransactionSql) => Promise<unknown>) => {
          pass()
          const result = await sql.begin((sql) => work(wrap(sql)))
          // Committed; whether the process hears of it is another matter.
          pass()
          return result
        }
      },
    })
  return { pool: wrap(sql) as unknown as Pool, isDead: () => dead, die }
}
