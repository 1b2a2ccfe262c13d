// `npm test` runs this once everything is installed: every test of the repository, and types and lint beside their
// start. Where types or lint fail, it stops the tests. At the end it prints the ten slowest files and one plain line
// with the counts. Where a few files failed, they are run once more, alone:
// a test that passes then is named as unsteady, and one that fails again has failed. `--fast` leaves out types, lint, and the tests that
// need Kafka. `--soak` runs the tests at full size. Any other argument goes to vitest (a path, -t, --project …).
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const bin = join(root, 'node_modules', '.bin')

type Report = {
  testResults: {
    /** The file's path. */
    name: string
    status: string
    /** In ms. */
    startTime: number
    endTime: number
    assertionResults: { fullName: string; status: string }[]
  }[]
}

/** `failed` also counts a file that failed outside its tests, as in a hook or an import. */
type Counts = { passed: number; failed: number; skipped: string[] }

const slowestCount = 10
/** Where tests of more files fail, it is not because the machine was busy. */
const maxRepeatedFiles = 3

/** The higher `niceness`, the more the program and its children give way to others. */
type ToolOptions = { env?: NodeJS.ProcessEnv; signal?: AbortSignal | undefined; niceness?: number }

/** Runs a program with our terminal and returns its exit code. The signal asks it to end. */
function runTool(
  program: string,
  args: string[],
  { env = {}, signal, niceness = 0 }: ToolOptions = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: 'inherit',
      env: {
        ...process.env,
        // The tools start with `#!/usr/bin/env node`, which must find this Node.
        PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
        TURBO_TELEMETRY_DISABLED: '1',
        // `npm test` has installed everything; pnpm need not look again before each script.
        pnpm_config_verify_deps_before_run: 'false',
        ...env,
      },
    })
    if (child.pid !== undefined && niceness > 0)
      setPriority(child.pid, Math.min(getPriority(child.pid) + niceness, constants.priority.PRIORITY_LOW))
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
    const stop = () => child.kill('SIGTERM')
    process.once('SIGTERM', stop)
    signal?.addEventListener('abort', stop)
  })
}

function count(report: Report): Counts {
  const tests = report.testResults.flatMap((file) => file.assertionResults)
  const failedFiles = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  )
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: tests.filter(({ status }) => status === 'failed').length + failedFiles.length,
    skipped: tests.filter(({ status }) => status !== 'passed' && status !== 'failed').map(({ fullName }) => fullName),
  }
}

/** A line for each of the slowest files, the slowest first: its time from the first test to the last, and its path. */
function slowestFiles({ testResults }: Report): string[] {
  return testResults
    .map(({ name, startTime, endTime }) => ({ path: relative(root, name), seconds: (endTime - startTime) / 1000 }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, slowestCount)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`)
}

/** The report that vitest wrote, or null when it ended too early to write one. */
function readReport(file: string): Report | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    console.error('vitest ended before it could report')
    return null
  }
}

/** Runs the tests. `report` is null where vitest ended before it wrote one, as after an abort by the signal. */
async function runVitest(
  args: readonly string[],
  { soak, signal }: { soak: boolean; signal?: AbortSignal },
): Promise<{ exitCode: number; report: Report | null }> {
  const reportFile = join(root, '.dev', `test-report-${process.pid}.json`)
  mkdirSync(dirname(reportFile), { recursive: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const env = soak ? { DLQ_SOAK: '1' } : {}
  // Whoever waits for types and lint has them soon.
  const options = { env, signal, niceness: 5 }
  const exitCode = await runTool(join(bin, 'vitest'), ['run', ...reporters, ...args], options)
  const report = signal?.aborted ? null : readReport(reportFile)
  rmSync(reportFile, { force: true })
  return { exitCode, report }
}

/** Names of tests, and of files that failed outside of their tests. */
function failedTests({ testResults }: Report): string[] {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
      return failed.length > 0 ? failed : [relative(root, name)]
    })
}

/** Types and lint. turbo runs the scripts through pnpm, which npx brings for as long as it takes. */
async function check(): Promise<boolean> {
  const scripts = 'turbo run check:types check:lint --output-logs=errors-only'
  return (await runTool('npx', ['-y', '-p', 'pnpm@12.21.0', '-c', scripts])) === 0
}

async function main(args: string[]): Promise<number> {
  const soak = args.includes('--soak')
  const fast = args.includes('--fast')
  const vitestArgs = args.filter((arg) => arg !== '--soak' && arg !== '--fast')
  if (fast) vitestArgs.push('--project=unit', '--project=pg')

  // Beside the first tests, which mostly wait for servers to start.
  const stopping = new AbortController()
  const checked = (fast ? Promise.resolve(true) : check()).then((passes) => {
    if (!passes) stopping.abort()
    return passes
  })
  const { exitCode, report } = await runVitest(vitestArgs, { soak, signal: stopping.signal })
  if (!(await checked)) {
    console.error('\nTypes or lint failed, so the tests do not count. `npm run format` repairs formatting and imports.')
    return 1
  }
  const { passed, failed, skipped } = report ? count(report) : { passed: 0, failed: 1, skipped: [] }
  const isWhole = vitestArgs.length === 0
  const unsteady = isWhole && report ? await passAlone(report, { soak }) : []

  printList(`${skipped.length} skipped`, skipped)
  printList(`${unsteady.length} unsteady, passed when run once more alone`, unsteady)
  if (exitCode !== 0 && failed === 0) console.log('vitest failed outside of the tests (see above), counted as one')
  if (report && report.testResults.length > slowestCount)
    printList(`the ${slowestCount} slowest files`, slowestFiles(report))
  const left = exitCode === 0 ? failed : Math.max(failed, 1) - unsteady.length
  console.log(`${passed + unsteady.length} passed, ${left} failed`)
  return left > 0 ? 1 : 0
}

/** Runs the files once more in which tests failed, if they are few. Returns those tests where all of them pass, or none. */
async function passAlone(report: Report, { soak }: { soak: boolean }): Promise<string[]> {
  const files = report.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
  if (files.length === 0 || files.length > maxRepeatedFiles) return []
  console.log(`once more, alone: ${files.map((file) => relative(root, file)).join(', ')}`)
  const { exitCode } = await runVitest(files, { soak })
  return exitCode === 0 ? failedTests(report) : []
}

function printList(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

// Ctrl-C reaches the tool from the terminal; we stay to pass on how it ends.
process.on('SIGINT', () => {})
process.exitCode = await main(process.argv.slice(2))
