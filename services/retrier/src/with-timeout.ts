// A bound in time for what has none of its own.

/**
 * What `work` comes to, or an error after `ms`. The work itself then goes on: who started it makes it
 * harmless, and cleans up in `whenLate`, which is called when it has ended after all.
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
