// The policies as a service sees them now. A pass looks whether dlq_policies has changed and swaps the
// whole picture; looking a policy up is synchronous and cheap, because it is done for every message.
// While the database is away, the last picture stays.

import { compilePolicies, type EffectivePolicy, type MessageTopics, type PolicyLayers } from '../effective-policy.ts'
import { readChangedPolicies } from '../queries/policies.ts'
import type { Database } from './database.ts'
import type { Log } from './log.ts'

type Refreshed = { more: false; changed: boolean }

export type PolicySource = {
  /** Reads the policies unless they have been read already. Every pass that looks policies up begins with it. */
  load(): Promise<void>
  /** One pass: reads the policies if they have changed since. For `runLoop`, with `policyPollMs`. */
  refresh(): Promise<Refreshed>
  /** What goes for a message now. The same object for the same topics, until the policies change. */
  policyFor(topics: MessageTopics): EffectivePolicy
}

export type PolicySourceDeps = {
  sql: Database
  log: Log
  /** What the configuration says; `policyLayersOf` makes it. */
  configured: Omit<PolicyLayers, 'rows'>
}

/** Twice as often as changes have to be noticed. */
export const policyPollMs = 1000

/** A topic name takes some 100 bytes, so a full memory takes a few megabytes. */
const maxRemembered = 10_000

export function createPolicySource({ sql, log, configured }: PolicySourceDeps): PolicySource {
  let marker: string | null = null
  let lookUp: ((topics: MessageTopics) => EffectivePolicy) | null = null

  let underWay: Promise<Refreshed> | null = null
  let following: Promise<Refreshed> | null = null

  /**
   * One reading at a time: of two under way at once, the older answer might come last and stay. All who ask while one
   * is under way share the one that begins after it.
   */
  function readAnew(): Promise<Refreshed> {
    if (following !== null) return following
    if (underWay === null) return begin()
    following = underWay.catch(() => {}).then(begin)
    return following
  }

  function begin(): Promise<Refreshed> {
    following = null
    underWay = readChanges().finally(() => {
      underWay = null
    })
    return underWay
  }

  async function readChanges(): Promise<Refreshed> {
    const read = await readChangedPolicies(sql, { marker })
    if (read === null) return { more: false, changed: false }
    const compiled = compilePolicies({ ...configured, rows: read.policies })
    // Both at once, and only after all that can fail.
    marker = read.marker
    lookUp = remembering(compiled)
    log.info({ policies: read.policies.length, marker }, 'policies_read')
    return { more: false, changed: true }
  }

  return {
    refresh: readAnew,
    async load() {
      if (lookUp === null) await (underWay ?? begin())
    },
    policyFor(topics) {
      if (lookUp === null) throw new Error('policyFor() before load(): a policy that is not known must not be guessed')
      return lookUp(topics)
    },
  }
}

function remembering(compiled: (topics: MessageTopics) => EffectivePolicy): (topics: MessageTopics) => EffectivePolicy {
  const known = new Map<string, EffectivePolicy>()
  return (topics) => {
    // Kafka's topic names hold no space, so the last part is the DLQ topic, whatever stands before it.
    const key = `${topics.originalTopic} ${topics.dlqTopic ?? ''}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    // A plain bound: forgetting all of it now and then costs one computation per topic.
    if (known.size >= maxRemembered) known.clear()
    const policy = compiled(topics)
    known.set(key, policy)
    return policy
  }
}
