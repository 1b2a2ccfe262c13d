// A test's project follows from its file name: no I/O (unit), real PostgreSQL (pg), real
// Kafka as well (kafka). Servers are started once per run, and only those that the chosen
// files need (packages/dlq-testing/src/global-setup.ts).
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const soak = process.env.DLQ_SOAK === '1'
const never = ['**/node_modules/**', '**/.dev/**']
const globalSetup = ['packages/dlq-testing/src/global-setup.ts']
const fleet = 'packages/dlq-testing/fleet/**/*.test.ts'

const minute = 60_000
/** More than cores: these tests mostly wait, for a session to end or a server to be back. */
const serverWorkers = Math.max(3, availableParallelism())

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...never, '**/*.{pg,kafka}.test.ts', fleet],
          testTimeout: soak ? 10 * minute : 15_000,
          maxWorkers: Math.max(2, Math.min(8, availableParallelism())),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'pg',
          include: ['**/*.pg.test.ts'],
          exclude: [...never, fleet],
          globalSetup,
          testTimeout: soak ? 30 * minute : minute,
          hookTimeout: minute,
          maxWorkers: serverWorkers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'kafka',
          include: ['**/*.kafka.test.ts', fleet],
          // What measures time needs a machine to itself.
          exclude: soak ? never : [...never, '**/*.soak.kafka.test.ts'],
          globalSetup,
          testTimeout: soak ? 60 * minute : 2 * minute,
          hookTimeout: 2 * minute,
          maxWorkers: serverWorkers,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
