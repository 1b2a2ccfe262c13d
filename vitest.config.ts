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

export default defineConfig({
  test: {
    // kafkajs's request queue asks for a timer in the past (tulios/kafkajs#1751); harmless.
    execArgv: ['--disable-warning=TimeoutNegativeWarning'],
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
          maxWorkers: Math.max(2, Math.min(4, availableParallelism())),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'kafka',
          include: ['**/*.kafka.test.ts', fleet],
          exclude: never,
          globalSetup,
          testTimeout: soak ? 60 * minute : 2 * minute,
          hookTimeout: 2 * minute,
          // One broker and its clients keep two cores busy.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
