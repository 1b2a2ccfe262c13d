// Handles the messages of a topic that its application retries itself (policy "delivery: pull"). Any number of
// instances may do so: a message has one live lease at a time. `every` works like a scheduler behind ShedLock:
// one instance makes an application pass per interval.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import {
  beginPass,
  claimMessages,
  type DeadLetter,
  endPass,
  extendLeases,
  extendPass,
  failMessage,
  releaseMessages,
  resolveMessage,
} from './dead-letter-functions.ts'

export type HandlerContext = {
  /** With `inTransaction` the transaction that also settles the message; else the pool. */
  readonly sql: postgres.Sql | postgres.TransactionSql
  /** Aborted when processing must stop, or the lease was lost. A handler that ends so has not spent its message's attempt. */
  readonly signal: AbortSignal
}

export type ProcessOptions = {
  sql: postgres.Sql
  topic: string
  /** Throws if it cannot handle the message. */
  handler: (message: DeadLetter, context: HandlerContext) => Promise<void> | void
  /** Messages per claim, or per pass with `every`; at most 1000. */
  batchSize?: number
  /** Milliseconds from pass to pass. Absent: messages are handled as they become due. */
  every?: number
  /** With `every`: only one instance makes the pass of each interval. */
  exclusive?: boolean
  /** The budget of a message, instead of its own; a forced or revived one has what somebody has given it. */
  maxRetries?: number
  /** When a failed message is due again; null: after its policy's wait. With `every`, by default at the next pass. */
  retryAfterMs?: number | null
  /** Calls the handler in the transaction that settles the message, so that its effects happen once. */
  inTransaction?: boolean
  /** The lease: how long a dead instance holds its messages. A living instance renews it. */
  leaseMs?: number
  /** Without `every`: how long to wait when nothing is due. */
  pollMs?: number
  /** Called with faults that do not stop processing: the database is away, a lease was lost. Default: console.error. */
  onError?: (error: Error) => void
  signal?: AbortSignal
}

export type PassCounts = { claimed: number; resolved: number; failed: number; dead: number; lost: number }

const nothing: PassCounts = { claimed: 0, resolved: 0, failed: 0, dead: 0, lost: 0 }

/** Processing that runs until it is stopped. */
export type Processing = AsyncDisposable & {
  /** Waits for the present message, gives the others back, and then resolves. */
  stop(): Promise<void>
}

/** Starts processing in the background. */
export function processDeadLetters(options: ProcessOptions): Processing {
  const { every, pollMs = 1000, batchSize = 50, onError = console.error } = options
  const stopping = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal
  const by = `${hostname()}:${process.pid}:${randomUUID()}`

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const startedAt = performance.now()
      let counts = nothing
      try {
        counts = await processPass({ ...options, signal }, by)
      } catch (error) {
        onError(error as Error)
      }
      const idleMs =
        every !== undefined ? every - (performance.now() - startedAt) : counts.claimed < batchSize ? pollMs : 0
      await rest(idleMs, signal)
    }
  }

  const running = run()
  const stop = async () => {
    stopping.abort()
    await running
  }
  return { stop, [Symbol.asyncDispose]: stop }
}

/** A timer of Node that is to wait for longer ends at once. */
const longestTimerMs = 2 ** 31 - 1

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs -= longestTimerMs)
    await sleep(Math.min(leftMs, longestTimerMs), undefined, { signal }).catch(() => {})
}

/** One pass, for applications with their own scheduler. Claims nothing if another instance makes the pass. */
export async function processPass(options: ProcessOptions, by = randomUUID() as string): Promise<PassCounts> {
  const { sql, topic, every, exclusive = every !== undefined, leaseMs = 300_000 } = options
  if (!exclusive) return handleBatch(options, null)
  const pass = { topic, by }
  if (!(await beginPass(sql, pass, { atMostMs: leaseMs }))) return nothing
  try {
    return await handleBatch(options, pass)
  } finally {
    // A little less than the interval, because the instances' timers differ slightly.
    await endPass(sql, pass, { atLeastMs: (every ?? 0) * 0.9 })
  }
}

async function handleBatch(options: ProcessOptions, pass: { topic: string; by: string } | null): Promise<PassCounts> {
  const { sql, topic, batchSize = 50, maxRetries = null, leaseMs = 300_000, signal } = options
  const messages = await claimMessages(sql, { topic, limit: batchSize, leaseMs, maxRetries })
  if (messages.length === 0) return nothing
  const counts = { ...nothing, claimed: messages.length }
  await using lease = keepLease(options, messages, pass)
  const unbegun = new Set(messages)
  try {
    for (const message of messages) {
      if (signal?.aborted) break
      const mine = lease.begin(message.id)
      if (mine !== null) unbegun.delete(message)
      const outcome = mine === null ? 'lost' : await handleOne(options, message, mine)
      if (outcome !== 'stopped') counts[outcome] += 1
      lease.settled(message.id)
    }
  } finally {
    await giveBack(options, [...unbegun])
  }
  return counts
}

/**
 * Gives back what was not begun: its leases would run out, and each would count as a failed attempt. Where the database is
 * away, it tries again for as long as they last.
 */
async function giveBack(options: ProcessOptions, messages: readonly DeadLetter[]): Promise<void> {
  const { sql, leaseMs = 300_000, signal, onError = console.error } = options
  const until = performance.now() + leaseMs
  for (let backoffMs = 100; ; backoffMs = Math.min(backoffMs * 2, 5000)) {
    try {
      return await releaseMessages(sql, messages)
    } catch (error) {
      if (signal?.aborted || performance.now() + backoffMs >= until) throw error
      onError(error as Error)
      await sleep(backoffMs, undefined, signal && { signal }).catch(() => {})
    }
  }
}

async function handleOne(
  options: ProcessOptions,
  message: DeadLetter,
  signal: AbortSignal,
): Promise<'resolved' | 'failed' | 'dead' | 'lost' | 'stopped'> {
  const {
    sql,
    handler,
    inTransaction = false,
    every,
    retryAfterMs = every === undefined ? null : 0,
    onError = console.error,
  } = options
  const lost = () => new LeaseLost(`the lease of dead letter ${message.id} was lost: another instance handles it`)
  try {
    if (inTransaction) {
      await sql.begin(async (sql) => {
        await handler(message, { sql, signal })
        // Last: the row stays unlocked while the handler works, so that the lease can be renewed.
        if (!(await resolveMessage(sql, message))) throw lost()
      })
    } else {
      await handler(message, { sql, signal })
      if (!(await resolveMessage(sql, message))) throw lost()
    }
    return 'resolved'
  } catch (thrown) {
    if (isStop(thrown, options.signal)) {
      await releaseMessages(sql, [message])
      return 'stopped'
    }
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const status = error instanceof LeaseLost ? null : await failMessage(sql, message, { error, retryAfterMs })
    if (status !== null) return status === 'DEAD' ? 'dead' : 'failed'
    onError(error instanceof LeaseLost ? error : lost())
    return 'lost'
  }
}

class LeaseLost extends Error {}

/** The handler ended because processing must stop. That says nothing of the message. */
function isStop(thrown: unknown, signal: AbortSignal | undefined): boolean {
  if (!signal?.aborted) return false
  return thrown === signal.reason || (thrown instanceof Error && thrown.name === 'AbortError')
}

/** Renews the leases of unsettled messages, three times per lease. */
function keepLease(
  options: ProcessOptions,
  messages: readonly DeadLetter[],
  pass: { topic: string; by: string } | null,
) {
  const { sql, leaseMs = 300_000, onError = console.error } = options
  const held = new Set(messages.map(({ id }) => id))
  const over = new AbortController()
  let current: { id: string; lost: AbortController } | null = null

  async function renew(): Promise<void> {
    const ids = [...held]
    const still = await extendLeases(sql, { ids, token: messages[0]!.token, leaseMs })
    // A message that was settled meanwhile has no lease any more either.
    for (const id of ids) if (!still.has(id)) held.delete(id)
    if (pass !== null && !(await extendPass(sql, pass, { atMostMs: leaseMs }))) held.clear()
    if (current !== null && !held.has(current.id)) current.lost.abort()
  }

  async function run(): Promise<void> {
    for (;;) {
      await sleep(leaseMs / 3, undefined, { signal: over.signal }).catch(() => {})
      if (over.signal.aborted) return
      await renew().catch(onError)
    }
  }

  const running = run()
  return {
    /** Aborted when processing must stop, or this message's lease was lost. Null if another instance has it now. */
    begin(id: string): AbortSignal | null {
      if (!held.has(id)) return null
      const lost = new AbortController()
      current = { id, lost }
      return options.signal ? AbortSignal.any([options.signal, lost.signal]) : lost.signal
    },
    settled(id: string): void {
      current = null
      held.delete(id)
    },
    async [Symbol.asyncDispose]() {
      over.abort()
      await running
    },
  }
}
