// Rules of this repository that no compiler checks: small files and folders, rooms that their READMEs name, no circular
// imports, and layers that import downward only.

import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../../..')
const maxFiles = 12
const maxLines = 400
const notCounted = /\.test\.ts$|(^|\/)(families|migrations)\//

type Manifest = Partial<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string>>
>

const files = globSync('{packages,services,infra}/*/src/**/*.{ts,tsx}', {
  cwd: root,
  exclude: (name) => name.includes('node_modules'),
}).toSorted()
/** Without tests and their helpers, which may import anything. */
const sources = files.filter((file) => !file.endsWith('.test.ts') && !path.basename(file).startsWith('test-'))

/** As the formatter leaves them: `… from 'x'`, `import 'x'`, `import('x')`. Types count: a reader follows them too. */
const specifiers = /^(?:import|export|\}).* from '(.+)'|^import '(.+)'|\bimport\('(.+?)'\)/gm

function specifiersOf(file: string): string[] {
  const matches = readFileSync(path.join(root, file), 'utf8').matchAll(specifiers)
  return [...matches].map(([, named, bare, dynamic]) => (named ?? bare ?? dynamic)!)
}

/** The file that an import names, from the root; the specifier itself for a package from elsewhere. */
function resolve(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return path.join(path.dirname(file), specifier)
  const [, name, rest] = /^(dlq-core|dlq-testing|saga-core)\/(.*)$/.exec(specifier) ?? []
  return name === undefined ? specifier : `packages/${name}/src/${rest}`
}

const imports = new Map(files.map((file) => [file, specifiersOf(file).map((specifier) => resolve(file, specifier))]))

/** "file → import" for each import of the layer that it may not have. */
function forbidden(layer: RegExp, target: RegExp): string[] {
  return sources
    .filter((file) => layer.test(file))
    .flatMap((file) =>
      imports
        .get(file)!
        .filter((to) => target.test(to))
        .map((to) => `${file} → ${to}`),
    )
}

/** The first circle found, as the files along it; null where there is none. */
function findCircle(): string[] | null {
  const done = new Set<string>()
  const walk = (file: string, trail: readonly string[]): string[] | null => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file]
    if (done.has(file)) return null
    for (const to of imports.get(file) ?? []) {
      const circle = walk(to, [...trail, file])
      if (circle !== null) return circle
    }
    done.add(file)
    return null
  }
  return files.reduce<string[] | null>((found, file) => found ?? walk(file, []), null)
}

test('every import inside the repository leads to a file that the scan knows', () => {
  expect(files.length).toBeGreaterThan(300)
  const inside = /^(packages|services|infra)\/[^/]+\/src\/.*\.tsx?$/
  const unknown = [...imports].flatMap(([file, found]) =>
    found.filter((to) => inside.test(to) && !imports.has(to)).map((to) => `${file} → ${to}`),
  )
  expect(unknown).toEqual([])
  expect(imports.get('packages/dlq-core/src/runtime/run-service.ts')).toContain('packages/dlq-core/src/runtime/log.ts')
})

test(`no folder has more than ${maxFiles} source files`, () => {
  const folders = Map.groupBy(
    files.filter((file) => !notCounted.test(file)),
    (file) => path.dirname(file),
  )
  const large = [...folders].filter(([, of]) => of.length > maxFiles).map(([folder, of]) => `${folder}: ${of.length}`)
  expect(large).toEqual([])
})

test(`no file that somebody writes has more than ${maxLines} lines`, () => {
  const generated = 'packages/dlq-client/src/api-types.ts'
  const written = globSync('{packages,services,infra,db,patches}/**/*.{ts,tsx,sql,css}', {
    cwd: root,
    exclude: (name) => /node_modules|dist|\.dev/.test(name),
  })
  expect(written).toContain(generated)
  const long = written
    .filter((file) => file !== generated)
    .map((file) => ({ file, lines: readFileSync(path.join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ file, lines }) => `${file}: ${lines}`)
  expect(long).toEqual([])
})

test('the README of a package, a service or a part of infra names each of its rooms', () => {
  const rooms = new Set(
    files.flatMap((file) => {
      const [, home, room, inner] =
        /^((?:packages|services|infra)\/[^/]+)\/src\/([^/]+)\/(?:([^/]+)\/)?/.exec(file) ?? []
      if (home === undefined || room === undefined) return []
      // The rooms of dlq-core are those of its three layers.
      const isLayer = home === 'packages/dlq-core' && inner !== undefined
      return [`${home} ${isLayer ? inner : room}`]
    }),
  )
  expect(rooms.size).toBeGreaterThan(60)
  const unnamed = [...rooms].filter((each) => {
    const [home = '', room = ''] = each.split(' ')
    return !new RegExp(`[\`/ ]${room}[\`/]`).test(readFileSync(path.join(root, home, 'README.md'), 'utf8'))
  })
  expect(unnamed).toEqual([])
})

test('the README of each package names each of its dependencies', () => {
  const manifests = globSync('{packages,services,infra}/*/package.json', { cwd: root }).concat('db/package.json')
  expect(manifests.length).toBeGreaterThan(15)
  const unnamed = manifests.flatMap((file) => {
    const { dependencies, devDependencies, peerDependencies } = JSON.parse(
      readFileSync(path.join(root, file), 'utf8'),
    ) as Manifest
    const text = readFileSync(path.join(root, path.dirname(file), 'README.md'), 'utf8')
    // Types belong to what they describe, and a scope may stand for all of its packages.
    return Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
      .filter((name) => !name.startsWith('@types/'))
      .filter((name) => ![name, name.replace(/\/.*/, '/*')].some((written) => text.includes(`\`${written}\``)))
      .map((name) => `${path.dirname(file)}: ${name}`)
  })
  expect(unnamed).toEqual([])
})

test('no file imports itself by way of others', () => {
  expect(findCircle()).toBeNull()
})

test('each layer imports only the layers below it', () => {
  expect(
    forbidden(/^packages\/dlq-core\/src\/domain\//, /\/src\/(queries|runtime)\/|^(postgres|kafkajs|pino)$/),
  ).toEqual([])
  expect(forbidden(/^packages\/dlq-core\/src\/queries\//, /\/src\/runtime\/|^(kafkajs|pino)$/)).toEqual([])
  expect(forbidden(/^packages\//, /^services\//)).toEqual([])
  expect(forbidden(/^services\/api\//, /^kafkajs$|\/runtime\/kafka\//)).toEqual([])
})

test('queries contain SQL; the runtime and the services contain none', () => {
  const holders = sources
    .filter((file) => /^packages\/dlq-core\/src\/runtime\/|^services\//.test(file))
    .filter((file) => /\b(sql|transaction)(<[^`]*>)?`/.test(readFileSync(path.join(root, file), 'utf8')))
  expect(holders).toEqual([])
})

test('rows with content become answers through one door', () => {
  const api = sources.filter((file) => file.startsWith('services/api/'))
  const making = api.filter((file) => /\bas (unknown as )?Shown\b/.test(readFileSync(path.join(root, file), 'utf8')))
  expect(making).toEqual(['services/api/src/masks/shown.ts'])
})

test('the lockfile has the programs of every platform, not only of the one that wrote it', () => {
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
  const locked = readFileSync(path.join(root, 'pnpm-lock.yaml'), 'utf8')
  const programs = Object.keys(devDependencies ?? {}).flatMap((name) => {
    const manifest = JSON.parse(readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8')) as Manifest
    return Object.entries(manifest.optionalDependencies ?? {}).map(([program, version]) => `${program}@${version}`)
  })
  expect(programs.length).toBeGreaterThan(30)
  expect(programs.filter((program) => !locked.includes(`  '${program}':`))).toEqual([])
})

test('services, packages and migrations are TypeScript and SQL', () => {
  const code = /\.(rs|go|py|java|kt|js|mjs|cjs|jsx|rb|c|cc|cpp)$/
  const found = globSync('{packages,services,db}/**/*.*', {
    cwd: root,
    exclude: (name) => /node_modules|dist|\.dev/.test(name),
  })
  expect(found.length).toBeGreaterThan(500)
  // Java's own clients and brokers are driven in Java.
  expect(found.filter((file) => code.test(file) && !file.startsWith('packages/dlq-testing/kafka/'))).toEqual([])
})
