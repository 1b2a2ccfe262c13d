// How the bytes of a topic are read: the rule that names it, and the registry that has its schemas.

import { captureGlob } from '../failure/topic-globs.ts'
import type { MessageTopics } from '../retry/effective-policy.ts'
import type { Compression } from './decompress.ts'

export const formats = ['auto', 'avro', 'protobuf', 'msgpack', 'cbor', 'json', 'text', 'none'] as const

export type PartRule = {
  /** `auto`: recognised by headers and first bytes. `avro`: without a frame, with the schema of `schema_id` or `type`. */
  readonly format: (typeof formats)[number]
  readonly schema_id?: number | undefined
  /** `protobuf`, `avro`: the full name of the type, in the files. */
  readonly type?: string | undefined
  readonly compression?: Compression | undefined
}

export type PayloadRule = {
  readonly topics: readonly string[]
  readonly key?: PartRule | undefined
  readonly value?: PartRule | undefined
}

export const registryTypes = ['confluent', 'apicurio', 'azure', 'glue'] as const

/** A registry, as far as it decides what an id in a record means. */
export type RegistryKind = {
  readonly name: string
  readonly type: (typeof registryTypes)[number]
  readonly topics: readonly string[]
}

export type PayloadSettings = { readonly registries: readonly RegistryKind[]; readonly rules: readonly PayloadRule[] }

/** What holds for a message's topics. */
export type PayloadPlan = { readonly key: PartRule; readonly value: PartRule; readonly registry: RegistryKind | null }

const auto: PartRule = { format: 'auto' }

/** Returns the function from topics to their plan. Of several rules the more exact one wins, as with policies. */
export function compilePlans({ registries, rules }: PayloadSettings): (topics: MessageTopics) => PayloadPlan {
  const ordered = rules
    .flatMap((rule) => rule.topics.map((glob) => ({ glob, rule })))
    .toSorted((a, b) => wildcards(a.glob) - wildcards(b.glob) || b.glob.length - a.glob.length)
  const plans = new Map<string, PayloadPlan>()
  return (topics) => {
    const name = `${topics.original_topic} ${topics.dlq_topic}`
    const known = plans.get(name)
    if (known !== undefined) return known
    const rule = ordered.find(({ glob }) => matches(glob, topics))?.rule
    const registry = registries.find((registry) => registry.topics.some((glob) => matches(glob, topics))) ?? null
    const plan = { key: rule?.key ?? auto, value: rule?.value ?? auto, registry }
    // Strangers invent topics.
    if (plans.size >= maxPlans) plans.clear()
    plans.set(name, plan)
    return plan
  }
}

const maxPlans = 10_000

function matches(glob: string, { original_topic, dlq_topic }: MessageTopics): boolean {
  return captureGlob(glob, original_topic) !== null || (dlq_topic !== null && captureGlob(glob, dlq_topic) !== null)
}

function wildcards(glob: string): number {
  return glob.match(/[*?]/g)?.length ?? 0
}
