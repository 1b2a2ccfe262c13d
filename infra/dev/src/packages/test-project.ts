// The packages as somebody outside has them: packed, and installed into an empty project.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const pnpm = ['-y', 'pnpm@12.21.0']
const toolMs = 5 * 60_000

/** Runs a tool and returns what it printed. @throws with its words, where it fails */
export async function runTool(program: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd, timeout: toolMs, maxBuffer: 64 * 1024 * 1024 })
    return stdout
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause })
  }
}

/** Packs a package as the release does. Returns the tarball's path. */
export async function packPackage(name: string, folder: string): Promise<string> {
  const into = join(folder, name)
  await runTool('npx', [...pnpm, 'pack', '--pack-destination', into], join(root, 'packages', name))
  return join(into, readdirSync(into)[0]!)
}

export type TestProject = { folder: string; [Symbol.dispose](): void }

/** An ES module of TypeScript, strict also about the declarations of its dependencies. */
export async function createProject(dependencies: Readonly<Record<string, string>>): Promise<TestProject> {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-project-'))
  const write = (name: string, content: object) => writeFileSync(join(folder, name), JSON.stringify(content))
  write('package.json', { name: 'somebodys', private: true, type: 'module', dependencies })
  const strict = { strict: true, skipLibCheck: false, types: ['node'], target: 'es2022', module: 'nodenext' }
  write('tsconfig.json', { compilerOptions: { ...strict, outDir: 'out', rootDir: 'src' }, include: ['src'] })
  mkdirSync(join(folder, 'src'))
  await runTool('npx', [...pnpm, 'install', '--prefer-offline', '--ignore-scripts', '--reporter=silent'], folder)
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The project's own compiler is that of the repository. */
export function compile(folder: string): Promise<string> {
  return runTool(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder)
}

/** The README's example of that name, with other addresses and names in it. */
export function exampleText(name: string, replaced: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(root, 'packages/dlq-client/examples', name), 'utf8')
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`${name} no longer has ${from}`)
    text = text.replaceAll(from, to)
  }
  return text
}

/** The Node that runs this, and the one of the machine; with `versions`, those, fetched from npm into `folder`. */
export async function findNodes(versions: readonly number[], folder: string): Promise<string[]> {
  const fetched = versions.map(async (version) => {
    const into = join(folder, `node-${version}`)
    mkdirSync(into)
    writeFileSync(join(into, 'package.json'), JSON.stringify({ private: true }))
    await runTool('npm', ['install', '--silent', '--no-audit', '--no-fund', `node@${version}`], into)
    return join(into, 'node_modules/node/bin/node')
  })
  if (versions.length > 0) return Promise.all(fetched)
  const paths = (process.env.PATH ?? '').split(delimiter).filter((path) => !path.includes('node_modules'))
  const own = paths.map((path) => join(path, 'node')).find((path) => existsSync(path))
  return [process.execPath, ...(own === undefined ? [] : [own])]
}
