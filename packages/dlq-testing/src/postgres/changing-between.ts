// Lets a test change something between two statements of a function that should have needed only one.

import type { Database } from 'dlq-core/runtime/database/database.ts'

/** The same database; `change` is made once, as soon as the first statement has answered. */
export function changingBetween(database: Database, change: () => Promise<unknown>): Database {
  let isChanged = false
  return new Proxy(database, {
    apply(sql, self, args) {
      const query = Reflect.apply(sql as never, self, args) as Promise<unknown>
      const then = query.then.bind(query)
      // Only statements are awaited, parts of them are not.
      return Object.assign(query, {
        // biome-ignore lint/suspicious/noThenProperty: this is where a statement is sent
        then: (onAnswer: (answer: unknown) => unknown, onFault: (fault: unknown) => unknown) =>
          then(async (answer) => {
            if (!isChanged) {
              isChanged = true
              await change()
            }
            return onAnswer(answer)
          }, onFault),
      })
    },
  })
}
