// `npm run build` of a library, in its folder: sources become ESM and types in dist/, for Node 20 and bundlers.
// Only what is published needs it. Inside the repository, packages are imported from their sources.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tsc = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url))

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' })

// tsc rewrites `.ts` in JavaScript only; in declarations it stays and leads to no file of the package.
for (const file of globSync('dist/**/*.d.ts')) {
  const path = join(process.cwd(), file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replaceAll(/(\bfrom |\bimport\()'(\.{1,2}\/[^']+)\.ts'/g, "$1'$2.js'"))
}
