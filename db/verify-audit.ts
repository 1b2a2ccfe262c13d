// Proves that the audit is as it was written: `node db/verify-audit.ts`. The hashes are computed here and not by the
// database's function, which its owner could replace. An owner could also write a whole day again, with new hashes:
// keep what this prints, and pass it to a later call as --since.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ConfigError } from 'dlq-core/runtime/config/config.ts'
import pg from 'pg'
import { databaseUrlOf } from './database-url.ts'
import { useOwnSettings } from './own-settings.ts'

/** The end of a day's chain; `hash` in hex. */
export type AuditDay = { day: string; entries: number; hash: string }

export type AuditProof = {
  /** The days whose chain holds, oldest first. */
  days: AuditDay[]
  /** The days whose entries were deleted after their time, and when that began. */
  forgotten: { day: string; at: string }[]
  /** Entries from before there was a chain; nothing proves them. */
  unchained: number
  /** Runs that erased what entries said, and how many: the proofs of these runs say why. Their place in the chain holds. */
  erased: { run: string; entries: number }[]
  /** Sentences that say what is wrong. */
  faults: string[]
}

type DayRow = AuditDay & { forgotten_at: string | null }
type Entry = {
  id: string
  day: string
  number: string
  hash: string | null
  fields: (string | null)[]
  erased_by: string | null
}

const pageSize = 5000
/** Of one day: what follows the first ones is mostly their consequence. */
const maxFaultsOfDay = 10

/** Reads the whole audit, in one snapshot. `since` are days that an earlier call has found good. */
export async function verifyAudit(
  client: pg.ClientBase,
  { since = [] }: { since?: readonly AuditDay[] } = {},
): Promise<AuditProof> {
  await client.query('begin isolation level repeatable read read only')
  try {
    const rows = await listDays(client)
    const chains = new Map(
      rows.filter(({ forgotten_at }) => forgotten_at === null).map((row) => [row.day, startChain(row, since)]),
    )
    const faults: string[] = []
    const erased = new Map<string, number>()
    for await (const entry of entriesInOrder(client)) {
      if (entry.erased_by !== null) erased.set(entry.erased_by, (erased.get(entry.erased_by) ?? 0) + 1)
      const chain = chains.get(entry.day)
      if (chain) chain.add(entry)
      else if (!rows.some(({ day }) => day === entry.day))
        faults.push(`${entry.day}: entry ${entry.id} belongs to a day that dlq_audit_days does not have`)
    }
    for (const chain of chains.values()) faults.push(...chain.end())
    const known = new Set(rows.map(({ day }) => day))
    for (const { day } of since) if (!known.has(day)) faults.push(`${day}: the day is gone, and was there before`)
    const unchained = await countUnchained(client)
    if (unchained.later > 0)
      faults.push(`${unchained.later} entries have no hash, although the chain had begun when they were written`)
    return {
      days: rows
        .filter(({ day }) => chains.get(day)?.isGood())
        .map(({ day, entries, hash }) => ({ day, entries, hash })),
      forgotten: rows.flatMap(({ day, forgotten_at }) => (forgotten_at === null ? [] : [{ day, at: forgotten_at }])),
      unchained: unchained.earlier,
      erased: [...erased].map(([run, entries]) => ({ run, entries })),
      faults,
    }
  } finally {
    await client.query('rollback')
  }
}

async function listDays(client: pg.ClientBase): Promise<DayRow[]> {
  const { rows } = await client.query(`
    select day::text, entries::float8 as entries, encode(hash, 'hex') as hash, forgotten_at::text
    from dlq.dlq_audit_days order by day`)
  return rows
}

/** The entries of all chains, day by day. */
async function* entriesInOrder(client: pg.ClientBase): AsyncGenerator<Entry> {
  await client.query(`
    declare entries no scroll cursor for
    select id::text, chain_day::text as day, chain_number::text as number, encode(chain_hash, 'hex') as hash,
           erased_by::text,
           array[id::text, (extract(epoch from at) * 1000000)::bigint::text, actor, role, action, target_type, target_id,
                 original_topic, dlq_topic, reason, before::text, after::text, request_id] as fields
    from dlq.dlq_audit
    where chain_day is not null
    order by chain_day, chain_number, id`)
  for (;;) {
    const { rows } = await client.query<Entry>(`fetch ${pageSize} from entries`)
    yield* rows
    if (rows.length < pageSize) return
  }
}

async function countUnchained(client: pg.ClientBase): Promise<{ earlier: number; later: number }> {
  const { rows } = await client.query(`
    with chain as (select min(id) as first from dlq.dlq_audit where chain_hash is not null)
    select count(*) filter (where first is null or id < first)::float8 as earlier,
           count(*) filter (where id > first)::float8 as later
    from dlq.dlq_audit cross join chain
    where chain_hash is null or chain_day is null`)
  return rows[0]
}

/** As dlq.audit_text makes it. */
function textOf(fields: Entry['fields']): string {
  return fields.map((field) => (field === null ? '-' : `${Buffer.byteLength(field)}:${field}`)).join()
}

const sha256 = (...parts: (Buffer | string)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

/** Follows one day's chain, entry by entry. */
function startChain({ day, entries, hash }: DayRow, since: readonly AuditDay[]) {
  const earlier = since.find((known) => known.day === day)
  const faults: string[] = []
  let number = 0
  let before = sha256(day)

  function add(entry: Entry): void {
    const expected = number + 1
    if (Number(entry.number) !== expected) {
      faults.push(
        Number(entry.number) < expected
          ? `${day}: entry ${entry.id} has the number ${entry.number} a second time`
          : `${day}: entries ${expected} to ${Number(entry.number) - 1} are missing before entry ${entry.id}`,
      )
    }
    const computed = sha256(before, textOf(entry.fields))
    // What was erased cannot be computed again; that the next entry follows it can.
    if (entry.erased_by === null && computed.toString('hex') !== entry.hash)
      faults.push(`${day}: entry ${entry.id} (number ${entry.number}) is not what was written, or follows another one`)
    if (earlier?.entries === Number(entry.number) && earlier.hash !== entry.hash)
      faults.push(`${day}: entry ${entry.id} had another hash before: the day was written again`)
    number = Number(entry.number)
    // With the stored hash the rest of the chain is judged by itself, so that one change is one fault.
    before = Buffer.from(entry.hash ?? '', 'hex')
  }

  function end(): string[] {
    if (number !== entries) faults.push(`${day}: the chain ends at ${number}, but the day had ${entries} entries`)
    else if (before.toString('hex') !== hash) faults.push(`${day}: the last hash is not the day's`)
    if (earlier && earlier.entries > number)
      faults.push(`${day}: ${earlier.entries} entries were there before, and ${number} are now`)
    return faults.length <= maxFaultsOfDay
      ? faults
      : [...faults.slice(0, maxFaultsOfDay), `${day}: and ${faults.length - maxFaultsOfDay} more faults`]
  }

  return { add, end, isGood: () => faults.length === 0 }
}

/** The lines that main() prints of good days: "2026-02-20 17 9f86d081…". */
export function readDays(text: string): AuditDay[] {
  return [...text.matchAll(/^(\d{4}-\d\d-\d\d) (\d+) ([0-9a-f]{64})$/gm)].map(([, day, entries, hash]) => ({
    day: day!,
    entries: Number(entries),
    hash: hash!,
  }))
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { since: { type: 'string' } } })
  const since = values.since === undefined ? [] : readDays(readFileSync(values.since, 'utf8'))
  const client = new pg.Client({ connectionString: databaseUrlOf(process.env), application_name: 'dlq-verify-audit' })
  await client.connect()
  try {
    await useOwnSettings(client)
    const { days, forgotten, unchained, erased, faults } = await verifyAudit(client, { since })
    for (const { day, at } of forgotten) console.log(`${day} forgotten since ${at}`)
    if (unchained > 0) console.log(`${unchained} entries are older than the chain; nothing proves them`)
    for (const { run, entries } of erased) console.log(`${entries} entries were emptied by the erasing run ${run}`)
    for (const { day, entries, hash } of days) console.log(`${day} ${entries} ${hash}`)
    for (const fault of faults) console.error(fault)
    if (faults.length === 0) console.log('the audit is as it was written')
    return faults.length === 0 ? 0 : 1
  } finally {
    await client.end()
  }
}

const usage = `usage: node db/verify-audit.ts [--since FILE]     FILE is what an earlier call printed
DATABASE_URL, or the services' own settings, say which database.`

if (import.meta.main) {
  process.exitCode = await main().catch((error: Error) => {
    console.error(error instanceof ConfigError ? `${error.message}\n${usage}` : error.message)
    return error instanceof ConfigError ? 78 : 1
  })
}
