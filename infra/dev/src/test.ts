// `npm test` runs this once everything is installed: types and lint, then every test of the repository. At the end it
// prints the ten slowest files and one plain line with the counts. `--fast` leaves out types, lint, and the tests that
// need Kafka. `--soak` runs the tests at full size. Any other argument goes to vitest (a path, -t, --project …).
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
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

/** Runs a program with our terminal and returns its exit code. */
function runTool(program: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
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
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
    process.once('SIGTERM', () => child.kill('SIGTERM'))
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

/** Types and lint. turbo runs the scripts through pnpm, which npx brings for as long as it takes. */
async function check(): Promise<boolean> {
  const scripts = 'turbo run check:types check:lint --output-logs=errors-only'
  const passes = (await runTool('npx', ['-y', '-p', 'pnpm@12.21.0', '-c', scripts])) === 0
  if (!passes)
    console.error('\nTypes or lint failed, so no test was run. `npm run format` repairs formatting and imports.')
  return passes
}

async function main(args: string[]): Promise<number> {
  const soak = args.includes('--soak')
  const fast = args.includes('--fast')
  const vitestArgs = args.filter((arg) => arg !== '--soak' && arg !== '--fast')
  if (fast) vitestArgs.push('--project=unit', '--project=pg')
  else if (!(await check())) return 1

  const reportFile = join(root, '.dev', `test-report-${process.pid}.json`)
  mkdirSync(dirname(reportFile), { recursive: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const exitCode = await runTool(join(bin, 'vitest'), ['run', ...reporters, ...vitestArgs], {
    ...(soak && { DLQ_SOAK: '1' }),
  })
  const report = readReport(reportFile)
  const { passed, failed, skipped } = report ? count(report) : { passed: 0, failed: 1, skipped: [] }
  rmSync(reportFile, { force: true })

  if (skipped.length > 0) console.log(`${skipped.length} skipped:\n${skipped.map((title) => `  ${title}`).join('\n')}`)
  if (exitCode !== 0 && failed === 0) console.log('vitest failed outside of the tests (see above), counted as one')
  if (report && report.testResults.length > slowestCount)
    console.log(`the ${slowestCount} slowest files:\n${slowestFiles(report).join('\n')}`)
  console.log(`${passed} passed, ${exitCode === 0 ? failed : Math.max(failed, 1)} failed`)
  return failed > 0 ? 1 : exitCode
}

// Ctrl-C reaches the tool from the terminal; we stay to pass on how it ends.
process.on('SIGINT', () => {})
process.exitCode = await main(process.argv.slice(2))
