// A test's project follows from its file name: no I/O (unit), real PostgreSQL (pg), real
// Kafka as well (kafka). Servers are started once per run, and only those that the chosen
// files need (packages/dlq-testing/src/global-setup.ts).
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const soak = process.env.DLQ_SOAK === '1'
const never = ['**/node_modules/**', '**/.dev/**']
const globalSetup = ['packages/dlq-testing/src/global-setup.ts']
const browserSetup = ['packages/dlq-testing/src/browser/browser-setup.ts']
const fleet = 'packages/dlq-testing/fleet/**/*.test.ts'

// Tests start our services about 200 times. With Node's compile cache, a start takes a third of the time.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('.dev/compile-cache', import.meta.url))

const minute = 60_000
/** More than cores: many tests mostly wait, for a session to end or a server to be back. */
const maxWorkers = Math.max(soak ? 3 : 5, availableParallelism())

/** One after the other: a worker goes on with files of its project only, and for another one begins with loading its modules. */
const projectOrder = ['kafka', 'browser', 'pg', 'unit']

/** The longest of each project first, or the last of them would run alone at the end. */
const longest = [
  ...['start.kafka', 'examples.kafka', 'exactly-once.kafka', 'outage.kafka', 'schemas.kafka', 'three-brokers.kafka'],
  ...['reader-watch.kafka', 'runs.kafka', 'operators.kafka', 'acls.kafka', 'java-producers.kafka'],
  ...['ingest-crash.kafka', 'lifecycle.kafka', 'restore.kafka', 'packages.kafka', 'day.kafka'],
  ...['one-of-many.browser', 'refusals.browser', 'races.browser', 'flows.browser', 'api-away.browser'],
  ...['lists.browser', 'deployments.browser', 'sign-in.browser', 'harness.browser'],
  ...['migrate.pg', 'run-worker.pg', 'adopt.pg', 'database-shy.pg', 'runs.pg', 'canary.pg', 'down-losses.pg'],
  ...['rules', 'run-service'],
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projectRank = ({ project }: TestSpecification) => projectOrder.indexOf(project.name)
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return at < 0 ? longest.length : at
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => projectRank(a) - projectRank(b) || rank(a) - rank(b))
  }
}

// The timeouts end tests that hang. They judge no speed, because a build server may be many times slower.
export default defineConfig({
  test: {
    maxWorkers,
    // Tests keep no state in modules, so a worker loads a module once for all of its files: a third less CPU.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Node runs our sources as they are, so vite need not transform them: a sixth of the unit tests' CPU.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A stream of events asks once more after its file's pool was ended: workers outlive files. Any other error counts.
    onUnhandledError: (error) => (error as { code?: string }).code !== 'CONNECTION_ENDED',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...never, '**/*.{pg,kafka,browser}.test.ts', fleet],
          testTimeout: soak ? 10 * minute : minute,
        },
      },
      // Before pg: their setups follow one another, and this one starts Kafka while PostgreSQL is made.
      {
        extends: true,
        test: {
          name: 'kafka',
          include: ['**/*.kafka.test.ts', fleet],
          // Tests that measure time need an idle machine, and long tests that repeat shorter ones can wait for the soak.
          exclude: soak ? never : [...never, '**/*.soak.kafka.test.ts'],
          globalSetup,
          testTimeout: soak ? 60 * minute : 6 * minute,
          hookTimeout: 6 * minute,
        },
      },
      {
        extends: true,
        test: {
          name: 'pg',
          include: ['**/*.pg.test.ts'],
          exclude: soak ? [...never, fleet] : [...never, fleet, '**/*.soak.pg.test.ts'],
          globalSetup,
          testTimeout: soak ? 30 * minute : 3 * minute,
          hookTimeout: 3 * minute,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['**/*.browser.test.ts'],
          exclude: soak ? never : [...never, '**/*.soak.browser.test.ts'],
          globalSetup: [...globalSetup, ...browserSetup],
          testTimeout: soak ? 30 * minute : 6 * minute,
          hookTimeout: 6 * minute,
        },
      },
    ],
  },
})
