// Erases once more what was erased before, in a database that was restored from an older backup:
// `node db/erase-again.ts --proofs DIR`, before the services start. DIR holds the proofs of all runs that erased
// (GET /api/v1/runs/:id/proof). It may be repeated.

import type { KeyObject } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type EraseProof, namesOf, openProof, runsNaming } from 'dlq-core/domain/erase/erase-proof.ts'
import { erasureKey, idDigest, keyDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import {
  addItems,
  forgetItems,
  listItemKeys,
  listKeysAfter,
  nextItems,
  noteErased,
} from 'dlq-core/queries/erase/erase-items.ts'
import { endAttemptsUnderWay, eraseMessages } from 'dlq-core/queries/erase/erase-messages.ts'
import {
  beginAgain,
  endAgain,
  eraseFrames,
  eraseGroupTexts,
  eraseReads,
  eraseRunTexts,
  listRunTexts,
  retireFrames,
} from 'dlq-core/queries/erase/erase-traces.ts'
import { addErasureKey, insertErasedPlaces, insertErasures } from 'dlq-core/queries/erase/erasures.ts'
import { ConfigError, loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase, type Database } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { eraseReasons } from 'saga-core/store/saga-store.ts'

const pieceSize = 5000
const eraseSize = 200
const mostKeys = 10_000
const keyPlaces = ['dlq_messages', 'dlq_messages_archive', 'dlq_message_edits', 'dlq_message_origins'] as const

/** Returns how many messages were erased. @throws where the file is no proof, or one that somebody has changed */
export async function eraseAgain(sql: Database, text: string): Promise<number> {
  const proof = openProof(text)
  const hmacKey = Buffer.from(proof.hmac_key, 'base64')
  const digestKey = erasureKey(hmacKey)
  const { run_id: runId, topics, cutoff } = proof
  await sql.begin(async (sql) => {
    await beginAgain(sql, proof)
    await addErasureKey(sql, hmacKey)
    const digests = [...proof.keys, ...proof.ids.map((id) => idDigest(digestKey, id))]
    await insertErasures(sql, { runId, hmacKey, digests, topics, cutoff })
    const places = proof.copies_in_kafka
      .filter(({ what }) => what === 'republished')
      .map((place) => ({ ...place, offset: BigInt(place.offset) }))
    await insertErasedPlaces(sql, { runId, hmacKey, places })
    for (let at = 0; at < proof.ids.length; at += pieceSize)
      await addItems(sql, { runId, ids: proof.ids.slice(at, at + pieceSize) })
  })
  const keys = await findKeys(sql, proof, digestKey)
  let erased = 0
  for (;;) {
    const count = await sql.begin(async (sql) => {
      const wanted = await nextItems(sql, { runId, limit: eraseSize })
      if (wanted.length === 0) return 0
      await endAttemptsUnderWay(sql, wanted)
      const { ids, waiting } = await eraseMessages(sql, { runId, ids: wanted, mode: proof.mode })
      if (waiting > 0) throw new Error(`${waiting} messages are being sent: stop the retriers first`)
      await noteErased(sql, { runId, ids })
      return ids.length
    })
    if (count === 0) break
    erased += count
  }
  await sql.begin((sql) => retireFrames(sql, runId))
  await sql.begin((sql) => eraseTraces(sql, { runId, proof: text, found: keys }))
  return erased
}

/**
 * Messages whose keys have one of the proof's digests, wherever a key stands. What was stored after the erasure is left
 * alone. Returns the keys.
 */
async function findKeys(
  sql: Database,
  { run_id: runId, keys, topics, cutoff }: EraseProof,
  digestKey: KeyObject,
): Promise<Buffer[]> {
  if (keys.length === 0) return []
  const digests = new Set(keys)
  const found = new Map<string, Buffer>()
  for (const place of keyPlaces) {
    for (let after: string | null = smallestId; after !== null; ) {
      const from: string = after
      after = await sql.begin(async (sql) => {
        const { rows, last } = await listKeysAfter(sql, { place, after: from, limit: pieceSize, topics, until: cutoff })
        const meant = rows.filter(({ record_key }) => digests.has(keyDigest(digestKey, record_key)))
        await addItems(sql, { runId, ids: meant.map(({ id }) => id) })
        for (const { record_key } of meant) found.set(record_key.toString('hex'), record_key)
        return last
      })
    }
  }
  return [...found.values()]
}

async function eraseTraces(
  sql: Parameters<typeof eraseFrames>[0],
  { runId, proof, found }: { runId: string; proof: string; found: readonly Buffer[] },
): Promise<void> {
  const keys = [...found, ...(await listItemKeys(sql, { runId, limit: mostKeys }))]
  await eraseGroupTexts(sql, runId)
  await eraseFrames(sql, runId)
  await eraseReads(sql, { runId, texts: namesOf(keys) })
  for (let after = smallestId; ; ) {
    const runs = await listRunTexts(sql, { after, limit: pieceSize })
    const naming = runsNaming(runs, keys)
    await eraseRunTexts(sql, { runId, ...naming })
    await eraseReasons(sql, naming.ids)
    if (runs.length < pieceSize) break
    after = runs.at(-1)!.id
  }
  await endAgain(sql, { id: runId, proof })
  await forgetItems(sql, runId)
}

const usage = `usage: node db/erase-again.ts --proofs DIR     DIR holds the proofs, one file each, *.json
DATABASE_URL, or the services' own settings, say which database.`

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { proofs: { type: 'string' } } })
  if (values.proofs === undefined) {
    console.error(usage)
    return 64
  }
  const yaml = process.env.DLQ_CONFIG ? readFileSync(process.env.DLQ_CONFIG, 'utf8') : null
  const { database } = loadConfig({ env: process.env, yaml, needs: ['database'] }).config
  const log = createLog({ service: 'erase-again', level: 'warn' })
  // It searches all messages.
  const sql = connectDatabase(database, { applicationName: 'dlq-erase-again', log, silenceMs: null })
  try {
    const files = readdirSync(values.proofs)
      .filter((name) => name.endsWith('.json'))
      .toSorted()
    for (const name of files) {
      const erased = await eraseAgain(sql, readFileSync(path.join(values.proofs, name), 'utf8')).catch(
        (error: Error) => {
          throw new Error(`${name}: ${error.message}`)
        },
      )
      console.log(`${name}: ${erased} messages erased`)
    }
    return 0
  } finally {
    await sql.end({ timeout: 5 })
  }
}

if (import.meta.main) {
  process.exitCode = await main().catch((error: Error) => {
    console.error(error instanceof ConfigError ? `${error.message}\n${usage}` : error.message)
    return error instanceof ConfigError ? 78 : 1
  })
}
