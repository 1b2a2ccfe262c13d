// The migrations that this version brings, as files: their names in order, and what each says.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The sets whose files are in this folder. */
export const fileSets = ['dlq', 'saga'] as const
export type FileSet = (typeof fileSets)[number]

export function directoryOf(set: FileSet): string {
  return fileURLToPath(new URL(`./${set}/migrations`, import.meta.url))
}

export function fileNames(set: FileSet): string[] {
  return readdirSync(directoryOf(set))
    .filter((file) => file.endsWith('.up.sql'))
    .map((file) => file.slice(0, -'.up.sql'.length))
    .sort()
}

/** Tells names of a later version: they come after all of ours. They are no fault, because a version only adds. */
export function laterThanOurs(set: FileSet): (name: string) => boolean {
  const last = fileNames(set).at(-1)!
  return (name) => name > last
}

export function checksum(set: FileSet, name: string): string {
  return createHash('sha256')
    .update(readFileSync(new URL(`./${set}/migrations/${name}.up.sql`, import.meta.url)))
    .digest('hex')
}
