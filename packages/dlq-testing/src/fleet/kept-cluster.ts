// A PostgreSQL cluster with our schemas in the database `postgres`, kept by a run of tests for the files that own a server:
// a copy takes a tenth of a second, a new one with its migrations one and a half of CPU.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Keeps a copy of the cluster in `dataDir`, whose server has stopped. */
export async function keepCluster(dataDir: string, kept: string): Promise<void> {
  mkdirSync(dirname(kept), { recursive: true })
  await copy(dataDir, kept)
  // Workers begin after this, and inherit it.
  process.env.DLQ_TEST_CLUSTER = kept
}

/** Lays a copy where a server is about to be started, if the run has kept one. Without it, that start makes a cluster. */
export async function layCluster(dataDir: string): Promise<void> {
  const kept = process.env.DLQ_TEST_CLUSTER
  if (!kept || existsSync(dataDir)) return
  mkdirSync(dirname(dataDir), { recursive: true })
  await copy(kept, dataDir)
}

/** With its owner, who is not the one that copies where that is root. */
async function copy(from: string, to: string): Promise<void> {
  await run('cp', ['-a', from, to])
}
