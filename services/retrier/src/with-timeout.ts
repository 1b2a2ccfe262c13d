// A time limit for work that has none.

/**
 * Returns the result of `work`, or throws after `ms`. The work itself goes on then: the caller must make it harmless, and
 * clean up in `whenLate`, which is called when the work has ended after all.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, whenLate: () => unknown = () => {}): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${ms / 1000} s`))
      work.catch(() => {}).finally(whenLate)
    }, ms)
  })
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer))
}
