// The proof of an erasure: what was erased where, and where copies remain. It holds no key, value or text of a message.

import { createHash } from 'node:crypto'

export type KafkaCopy = {
  /** dlq, original, or republished. */
  what: string
  topic: string
  partition: number
  offset: string
  /** Retention deletes it after that time; null where it never does, or nobody knows. */
  deleted_after: string | null
}

export type EraseProof = {
  run_id: string
  mode: 'contents' | 'rows'
  actor: string
  reason: string | null
  requested_at: string
  finished_at: string
  /** Records of these keys from before this time are stored as erased. */
  cutoff: string
  /** Of the HMACs, in base64. Whoever has it may try keys: keep the proof as you keep a backup. */
  hmac_key: string
  /** HMAC-SHA-256 of "key:" and each key, in hexadecimal digits. */
  keys: string[]
  topics: string[] | null
  ids: string[]
  /** Rows by table. */
  counts: Record<string, number>
  /** What a second search of all places found after it. */
  remaining: number
  copies_in_kafka: KafkaCopy[]
  not_reached: string[]
}

const notReached = [
  'records in Kafka, until retention deletes them',
  'consumers, and what they made of the records',
  'exported files',
  'backups and WAL from before finished_at',
]

/** The proof as JSON text, with the SHA-256 of the rest of it. */
export function sealProof(proof: Omit<EraseProof, 'not_reached'>): string {
  const text = JSON.stringify({ ...proof, not_reached: notReached })
  return `${text.slice(0, -1)},"sha256":"${digestOf(text)}"}`
}

/** The proof in a file. @throws {Error} where it is none, or was changed */
export function openProof(text: string): EraseProof {
  const { sha256, ...proof } = JSON.parse(text) as EraseProof & { sha256?: unknown }
  if (typeof sha256 !== 'string' || !Array.isArray(proof.ids)) throw new Error('it is no proof of an erasure')
  if (digestOf(JSON.stringify(proof)) !== sha256) throw new Error('it is not as it was written: its SHA-256 differs')
  return proof
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

type Place = {
  what: string
  topic: string | null
  partition: number | null
  offset: number | string | null
  at: string | null
}

/** The places of one message, as dlq_erase_items has them; those that are not known are left out. */
export function copiesOf(places: string, retentionOf: (topic: string) => number | null): KafkaCopy[] {
  return (JSON.parse(places) as Place[]).flatMap(({ what, topic, partition, offset, at }) => {
    if (topic === null || partition === null || offset === null) return []
    const retentionMs = retentionOf(topic)
    const until = at === null || retentionMs === null ? Number.NaN : Date.parse(at) + retentionMs
    const deleted_after = Number.isFinite(until) && until < 8.64e15 ? new Date(until).toISOString() : null
    return [{ what, topic, partition, offset: String(offset), deleted_after }]
  })
}

/** Shorter keys stand in too many texts: they count only as a whole string. */
const leastContained = 4

/** How texts name the keys: see `namesKey`. */
export function namesOf(keys: readonly Buffer[]): string[] {
  return keys.flatMap((key) => {
    const name = key.toString('utf8')
    const written = JSON.stringify(name).slice(1, -1)
    const whole = [`"${written}"`, `base64:${key.toString('base64')}`]
    return name.length >= leastContained ? [...whole, written] : whole
  })
}

/**
 * Whether a text of a run, JSON or a sentence, names one of the keys: as a whole string, in base64, or, where it is long
 * enough to say something, within one.
 */
export function namesKey(text: string, keys: readonly Buffer[]): boolean {
  return keys.some((key) => {
    const name = key.toString('utf8')
    const written = JSON.stringify(name).slice(1, -1)
    if (text.includes(`"${written}"`) || text === name || (key.length >= 3 && text.includes(key.toString('base64'))))
      return true
    return name.length >= leastContained && (text.includes(written) || text.includes(name))
  })
}

/**
 * What people wrote into a run. `asked`: its selection and its patch. `why`: why it was made, paused or cancelled, and its
 * Idempotency-Key.
 */
export type RunTexts = { readonly id: string; readonly asked: readonly string[]; readonly why: readonly string[] }

/** Which of the runs name one of the keys, and which of these (`asking`) name it in what they ask for. */
export function runsNaming(runs: readonly RunTexts[], keys: readonly Buffer[]): { ids: string[]; asking: string[] } {
  const names = (text: string) => namesKey(text, keys)
  const asking = runs.filter(({ asked }) => asked.some(names)).map(({ id }) => id)
  return { ids: runs.filter(({ asked, why }) => [...asked, ...why].some(names)).map(({ id }) => id), asking }
}
