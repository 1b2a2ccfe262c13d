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

/** Names that come after all of ours are those of a later version, which is no fault: it only adds. */
export function isLater(set: FileSet, name: string): boolean {
  return name > fileNames(set).at(-1)!
}

export function checksum(set: FileSet, name: string): string {
  return createHash('sha256')
    .update(readFileSync(new URL(`./${set}/migrations/${name}.up.sql`, import.meta.url)))
    .digest('hex')
}
