// Finds the addresses of hosts for sockets that have little time to connect. Node asks the system's resolver anew for each
// socket, on one of four threads. It drops answers that come too late for their socket. If the first name server of a machine
// is dead, every answer takes five seconds (`timeout` in resolv.conf(5)). A connection may take no longer here, so none would
// ever be made, and other hosts would wait for a thread.

import { type LookupAddress, type LookupAllOptions, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { monotonicNow } from '../clock/monotonic-now.ts'

export type SharedLookupDeps = {
  lookup?: (host: string, options: LookupAllOptions) => Promise<LookupAddress[]>
  now?: () => number
}

/** An answer that took less is asked for again: it may change, as where a database fails over to another address. */
const slowMs = 1000
/** Longer than the waits between two attempts to connect. */
const keptMs = 10_000

/** For the `lookup` of a socket: who asks for the same host while an answer is awaited, or soon after a slow one, shares it. */
export function createSharedLookup({
  lookup = (host, options) => promises.lookup(host, options),
  now = monotonicNow,
}: SharedLookupDeps = {}): LookupFunction {
  const answers = new Map<string, Promise<LookupAddress[]>>()

  function ask(host: string, options: LookupAllOptions): Promise<LookupAddress[]> {
    const key = JSON.stringify([host, options.family, options.hints])
    const known = answers.get(key)
    if (known !== undefined) return known
    const askedAt = now()
    const answer = lookup(host, options)
    const forget = () => void answers.delete(key)
    answers.set(key, answer)
    answer.then(() => {
      if (now() - askedAt < slowMs) forget()
      else setTimeout(forget, keptMs).unref()
    }, forget)
    return answer
  }

  return (host, options, callback) => {
    ask(host, { ...options, all: true }).then(
      (addresses) => {
        if (options.all) callback(null, addresses)
        else callback(null, addresses[0]!.address, addresses[0]!.family)
      },
      (error) => callback(error, []),
    )
  }
}

/** The one of this process: its sockets to Kafka and to PostgreSQL. */
export const sharedLookup = createSharedLookup()
