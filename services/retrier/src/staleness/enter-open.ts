// Finds the open messages of the topics whose policies ask about newer records. Each topic is walked again and again, at
// a distance that keeps the walks a small part of the work.

import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import type { MessageTopics } from 'dlq-core/domain/retry/effective-policy.ts'
import { listTopicPairs } from 'dlq-core/queries/reading/summary.ts'
import { enterOpen, forgetSettled } from 'dlq-core/queries/staleness/answers.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'

export type EntryDeps = {
  sql: Database
  policies: Pick<PolicySource, 'load' | 'policyOf' | 'mayAskAboutNewer'>
  now: () => number
}

const chunkSize = 2000
const passMs = 500
const pairsMs = 5000
const leastRestMs = 5000
/** A walk is followed by a rest of this many times its own duration. */
const restFactor = 10

type Walk = { after: string; tookMs: number; notBefore: number }

/** The original topics whose policies ask; `more`: some are not walked to the end. */
export type Entered = { guarded: ReadonlySet<string>; more: boolean }

/** A pass that enters some. */
export function createOpenEntry({ sql, policies, now }: EntryDeps) {
  const walks = new Map<string, Walk>()
  let guarded: MessageTopics[] = []
  let knownUntil = 0
  let turn = 0

  async function learn(): Promise<void> {
    if (now() < knownUntil) return
    await policies.load()
    // Most deployments ask nowhere: then the counts of all topics need not be added up. Answers about messages that are
    // gone are forgotten by a walk, too.
    const pairs = policies.mayAskAboutNewer() ? await listTopicPairs(sql, { emptied: true }) : []
    guarded = pairs.filter((pair) => policies.policyOf(pair).staleness !== 'ignore')
    const names = new Set(guarded.map(nameOf))
    for (const name of walks.keys()) if (!names.has(name)) walks.delete(name)
    knownUntil = now() + pairsMs
  }

  async function walkOn(pair: MessageTopics): Promise<void> {
    const walk = walks.get(nameOf(pair)) ?? { after: smallestId, tookMs: 0, notBefore: 0 }
    walks.set(nameOf(pair), walk)
    if (now() < walk.notBefore) return
    const since = now()
    const last = await enterOpen(sql, { ...pair, after: walk.after, limit: chunkSize })
    if (last === null) await forgetSettled(sql, pair.original_topic)
    walk.tookMs += now() - since
    if (last !== null) walk.after = last
    else {
      const notBefore = now() + Math.max(leastRestMs, walk.tookMs * restFactor)
      Object.assign(walk, { after: smallestId, tookMs: 0, notBefore })
    }
  }

  return async function enterSome(): Promise<Entered> {
    await learn()
    const until = now() + passMs
    for (let done = 0; done < guarded.length && now() < until; done += 1) {
      turn = (turn + 1) % guarded.length
      await walkOn(guarded[turn]!)
    }
    const isResting = (pair: MessageTopics) => now() < (walks.get(nameOf(pair))?.notBefore ?? 0)
    return {
      guarded: new Set(guarded.map(({ original_topic }) => original_topic)),
      more: !guarded.every(isResting),
    }
  }
}

function nameOf({ original_topic, dlq_topic }: MessageTopics): string {
  return `${original_topic} ${dlq_topic ?? ''}`
}
