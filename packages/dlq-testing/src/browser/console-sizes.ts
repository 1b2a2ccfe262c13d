// How large the parts of the console's build are, as browsers load them, from Vite's manifest.

/** Of Vite's manifest.json: one chunk, by the path of its source. */
export type Chunk = {
  file: string
  src?: string
  isEntry?: boolean
  isDynamicEntry?: boolean
  imports?: string[]
  css?: string[]
  assets?: string[]
}
export type Manifest = Readonly<Record<string, Chunk>>

export type Sizes = {
  /** Code and styles of the page Now, with everything that is loaded before it. */
  first: number
  /** What every page loads once the first is seen: the menus of the frame. */
  frame: number
  /** What each other part adds to these, by its source. */
  parts: ReadonlyMap<string, number>
  /** Each font, by its file. */
  fonts: ReadonlyMap<string, number>
}

const firstPage = 'src/pages/now/now-page.tsx'
const frameParts = ['menus', 'over/notices', 'over/hints'].map((name) => `src/app/${name}.tsx`)

/**
 * Sizes in bytes. `sizeOf` tells that of a file as it is sent. The page Now is part of the entry, or loaded with it.
 * @throws {Error} where the manifest has no entry
 */
export function sizesOf(manifest: Manifest, sizeOf: (file: string) => number): Sizes {
  const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry)
  if (entry === undefined) throw new Error('the manifest has no entry')
  const now = manifest[firstPage] === undefined ? [] : filesOf(manifest, firstPage)
  const first = new Set([...filesOf(manifest, entry), ...now])
  const sum = (files: Iterable<string>) => [...files].reduce((total, file) => total + sizeOf(file), 0)
  const inFrame = frameParts.filter((name) => manifest[name] !== undefined)
  const frame = new Set(inFrame.flatMap((name) => [...filesOf(manifest, name)])).difference(first)
  const always = first.union(frame)
  const others = Object.keys(manifest).filter(
    (name) => manifest[name]!.isDynamicEntry && name !== firstPage && !inFrame.includes(name),
  )
  const assets = new Set(Object.values(manifest).flatMap(({ file, assets = [] }) => [file, ...assets]))
  return {
    first: sum(first),
    frame: sum(frame),
    parts: new Map(others.map((name) => [name, sum(filesOf(manifest, name).difference(always))])),
    fonts: new Map([...assets].filter((file) => file.endsWith('.woff2')).map((file) => [file, sizeOf(file)])),
  }
}

/** The code and styles that come with a chunk. */
function filesOf(manifest: Manifest, name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return new Set()
  seen.add(name)
  const { file, imports = [], css = [] } = manifest[name]!
  return new Set([file, ...css, ...imports.flatMap((inner) => [...filesOf(manifest, inner, seen)])])
}
