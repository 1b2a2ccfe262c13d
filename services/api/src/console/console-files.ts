// The console's build, read once at the start: a map from paths to bytes. Only what is in the map can be asked for, so
// no path leads anywhere else in the file system.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'

export type ConsoleFile = {
  bytes: Buffer
  type: string
  /** Of the bytes, for the ETag. */
  hash: string
  brotli: Buffer | null
  gzip: Buffer | null
  /** Its name changes with its content. */
  isHashed: boolean
}

export type ConsoleFiles = {
  /** By the path below /console/, such as "assets/index-C0ffee.js". */
  files: ReadonlyMap<string, ConsoleFile>
  index: ConsoleFile
  /** Another build has another one. */
  build: string
}

/** Where `vite build` of packages/console writes, and where the image has it. */
export const consoleBuildFolder = fileURLToPath(new URL('../../../../packages/console/dist/', import.meta.url))

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** Null where nothing has been built. `prefix` is the path under which browsers see the API: "" or "/dlq". */
export function readConsoleFiles(folder: string, { prefix }: { prefix: string }): ConsoleFiles | null {
  if (!existsSync(join(folder, 'index.html'))) return null
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    // Not what a link leads to, nor Vite's own manifest in .vite.
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .filter((path) => types[extname(path)] !== undefined && !path.startsWith('.'))
    .toSorted()
  const files = new Map(names.map((path) => [path, readFile(folder, path)]))
  const builds = createHash('sha256')
  for (const [path, { hash }] of files) builds.update(`${path} ${hash}\n`)
  const index = placeUnder(files.get('index.html')!, prefix)
  files.delete('index.html')
  return { files, index, build: builds.digest('hex').slice(0, 12) }
}

function readFile(folder: string, path: string): ConsoleFile {
  const read = (suffix: string) => {
    const file = join(folder, path + suffix)
    return existsSync(file) ? readFileSync(file) : null
  }
  const bytes = readFileSync(join(folder, path))
  return {
    bytes,
    type: types[extname(path)]!,
    hash: hashOf(bytes),
    brotli: read('.br'),
    gzip: read('.gz'),
    isHashed: path.startsWith('assets/'),
  }
}

/** index.html with the address of the console as its base, and its own files below it. */
function placeUnder(index: ConsoleFile, prefix: string): ConsoleFile {
  const base = `<base href="${prefix}/console/">`
  const html = index.bytes
    .toString('utf8')
    .replaceAll(/ (src|href)="\/console\//g, ` $1="${prefix}/console/`)
    .replace(/<base [^>]*>/, '')
    .replace('<head>', `<head>${base}`)
  const bytes = Buffer.from(html)
  return { ...index, bytes, hash: hashOf(bytes), brotli: brotliCompressSync(bytes), gzip: gzipSync(bytes) }
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
}
