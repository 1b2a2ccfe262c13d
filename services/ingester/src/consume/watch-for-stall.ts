// Notices a consumer that hangs silently (tulios/kafkajs#659, #1441), so that the caller can build a new one.

import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Consumer } from 'kafkajs'

/** A consumer may be silent for this long. While a batch waits for PostgreSQL, its heartbeats are signs of life. */
const stallMs = 90_000
const lookEveryMs = 5000

/** `stalled` rejects with CONSUMER_STALLED when the consumer hangs, until `stop` is called. */
export function watchForStall(consumer: Pick<Consumer, 'on' | 'events'>): { stalled: Promise<never>; stop(): void } {
  let lastSign = performance.now()
  const { HEARTBEAT, FETCH, GROUP_JOIN, REBALANCING, CRASH } = consumer.events
  for (const event of [HEARTBEAT, FETCH, GROUP_JOIN, REBALANCING, CRASH]) {
    consumer.on(event, () => {
      lastSign = performance.now()
    })
  }
  let timer: NodeJS.Timeout | undefined
  const stalled = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (performance.now() - lastSign > stallMs)
        reject(new DlqError('CONSUMER_STALLED', `the consumer showed no sign of life for ${stallMs / 1000} s`))
    }, lookEveryMs)
  })
  // Awaited by the caller; until then it must not count as unhandled.
  stalled.catch(() => {})
  return { stalled, stop: () => clearInterval(timer) }
}
