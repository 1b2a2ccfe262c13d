// The policies as a service knows them. A pass looks whether dlq_policies has changed and replaces all of
// them at once. Looking a policy up is synchronous and cheap, because it happens for every message. While the
// database is away, the last policies stay.

import {
  compilePolicies,
  type EffectivePolicy,
  type MessageTopics,
  mayAskAboutNewer,
  type PolicyLayers,
  type PolicyOf,
} from '../domain/retry/effective-policy.ts'
import { readChangedPolicies } from '../queries/retry/policies.ts'
import type { Database } from './database/database.ts'
import type { Log } from './log.ts'

type Refreshed = { more: false; changed: boolean }

export type PolicySource = {
  /** Reads the policies unless they have been read already. Every pass that looks policies up begins with it. */
  load(): Promise<void>
  /** One pass: reads the policies if they have changed since. For `runLoop`, with `policyPollMs`. */
  refresh(): Promise<Refreshed>
  /** The policy in force. The same object for the same topics, until the policies change. */
  policyOf: PolicyOf
  /** The policy in force, and who set each field of it. */
  effectivePolicyOf: (topics: MessageTopics) => EffectivePolicy
  /** Whether any topic at all may have a policy that asks whether a message's key has newer records. */
  mayAskAboutNewer: () => boolean
}

export type PolicySourceDeps = {
  sql: Database
  log: Log
  /** The configuration's policies, from `policyLayersOf`. */
  configured: Omit<PolicyLayers, 'rows'>
}

/** Twice as often as changes must be noticed. */
export const policyPollMs = 1000

/** A topic name takes some 100 bytes, so a full memory takes a few megabytes. */
const maxRemembered = 10_000

export function createPolicySource({ sql, log, configured }: PolicySourceDeps): PolicySource {
  let marker: string | null = null
  let known: { layers: PolicyLayers; lookUp: (topics: MessageTopics) => EffectivePolicy } | null = null

  let underWay: Promise<Refreshed> | null = null
  let following: Promise<Refreshed> | null = null

  /**
   * One reading at a time: of two under way at once, the older answer might come last and stay. Callers during a
   * reading share the one that begins after it.
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
    const layers = { ...configured, rows: read.policies }
    const compiled = compilePolicies(layers)
    // Both together, and only after everything that can fail.
    marker = read.marker
    known = { layers, lookUp: remembering(compiled) }
    log.info({ policies: read.policies.length, marker }, 'policies_read')
    return { more: false, changed: true }
  }

  function loaded() {
    if (known === null)
      throw new Error('policies are asked before load(): a policy that is not known must not be guessed')
    return known
  }

  const effectivePolicyOf: PolicySource['effectivePolicyOf'] = (topics) => loaded().lookUp(topics)

  return {
    refresh: readAnew,
    async load() {
      if (known === null) await (underWay ?? begin())
    },
    policyOf: (topics) => effectivePolicyOf(topics).policy,
    effectivePolicyOf,
    mayAskAboutNewer: () => mayAskAboutNewer(loaded().layers),
  }
}

function remembering(compiled: (topics: MessageTopics) => EffectivePolicy): (topics: MessageTopics) => EffectivePolicy {
  const known = new Map<string, EffectivePolicy>()
  return (topics) => {
    // Kafka's topic names hold no space, so the last part is the DLQ topic, whatever stands before it.
    const key = `${topics.original_topic} ${topics.dlq_topic ?? ''}`
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    // A plain bound: forgetting all of it now and then costs one computation per topic.
    if (known.size >= maxRemembered) known.clear()
    const policy = compiled(topics)
    known.set(key, policy)
    return policy
  }
}
