// Whether a service can do its work now. Each check is bounded in time; a check that still hangs
// counts as failed, and no second one starts behind it.

export type Check = () => Promise<unknown>
export type Readiness = {
  check(): Promise<{ ready: boolean; checks: Record<string, string> }>
  /** From now on not ready, whatever the checks say, so that load balancers use other processes. */
  drain(): void
}

/** A check that asks nobody: it fails while the service has met a fault. */
export function faultFree(fault: () => string | null): Check {
  return async () => {
    const why = fault()
    if (why !== null) throw new Error(why)
  }
}

export function createReadiness(checks: Readonly<Record<string, Check>>, { timeoutMs = 2000 } = {}): Readiness {
  const running = new Map<string, Promise<string>>()
  let draining = false

  function outcome(name: string, check: Check): Promise<string> {
    const running_ = running.get(name)
    if (running_) return running_
    const fresh = Promise.resolve()
      .then(check)
      .then(
        () => 'ok',
        (error: unknown) => (error instanceof Error ? error.message || error.name : String(error)),
      )
      .finally(() => running.delete(name))
    running.set(name, fresh)
    return fresh
  }

  return {
    drain() {
      draining = true
    },
    async check() {
      const results = await Promise.all(
        Object.entries(checks).map(
          async ([name, check]) => [name, await withTimeout(outcome(name, check), timeoutMs)] as const,
        ),
      )
      if (draining) results.push(['service', 'stopping'])
      return { ready: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) }
    },
  }
}

async function withTimeout(outcome: Promise<string>, timeoutMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, `no answer within ${timeoutMs / 1000} s`)
  })
  return Promise.race([outcome, timeout]).finally(() => clearTimeout(timer))
}
