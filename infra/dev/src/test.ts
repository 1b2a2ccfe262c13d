// What `npm test` runs once everything is installed: types and lint, then every test of the
// repository, then one plain line with the counts. `--soak` runs the tests at full size; any
// other argument goes to vitest (a path, -t, --project …).
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const bin = join(root, 'node_modules', '.bin')

type Report = {
  testResults: {
    name: string
    status: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

/** `failed` also counts a file that failed outside its tests, as in a hook or an import. */
type Counts = { passed: number; failed: number; skipped: string[] }

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

/** What vitest wrote, or nothing when it ended too early to write. */
function readCounts(file: string): Counts {
  try {
    return count(JSON.parse(readFileSync(file, 'utf8')) as Report)
  } catch {
    console.error('vitest ended before it could report')
    return { passed: 0, failed: 1, skipped: [] }
  }
}

async function main(args: string[]): Promise<number> {
  const soak = args.includes('--soak')
  const vitestArgs = args.filter((arg) => arg !== '--soak')

  // turbo runs the scripts through pnpm, which npx brings for as long as it takes.
  const check = 'turbo run check:types check:lint --output-logs=errors-only'
  if ((await runTool('npx', ['-y', '-p', 'pnpm@12', '-c', check])) !== 0) {
    console.error('\nTypes or lint failed, so no test was run. `npm run format` repairs formatting and imports.')
    return 1
  }

  const reportFile = join(root, '.dev', `test-report-${process.pid}.json`)
  mkdirSync(dirname(reportFile), { recursive: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]
  const exitCode = await runTool(join(bin, 'vitest'), ['run', ...reporters, ...vitestArgs], {
    ...(soak && { DLQ_SOAK: '1' }),
  })
  const { passed, failed, skipped } = readCounts(reportFile)
  rmSync(reportFile, { force: true })

  if (skipped.length > 0) console.log(`${skipped.length} skipped:\n${skipped.map((title) => `  ${title}`).join('\n')}`)
  if (exitCode !== 0 && failed === 0) console.log('vitest failed outside of the tests (see above), counted as one')
  console.log(`${passed} passed, ${exitCode === 0 ? failed : Math.max(failed, 1)} failed`)
  return failed > 0 ? 1 : exitCode
}

// Ctrl-C reaches the tool from the terminal; we stay to pass on how it ends.
process.on('SIGINT', () => {})
process.exitCode = await main(process.argv.slice(2))
