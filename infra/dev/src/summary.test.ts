import { expect, test } from 'vitest'
import type { StackFile } from './stack-file.ts'
import { countLine, countLines, summaryLines } from './summary.ts'

const stack: StackFile = {
  console: 'http://127.0.0.1:8080/console/',
  api: 'http://127.0.0.1:8080',
  ingester: 'http://127.0.0.1:8081',
  retrier: 'http://127.0.0.1:8082',
  databaseUrl: 'postgres://dlq:secret@127.0.0.1:5432/dlq',
  kafkaBrokers: ['127.0.0.1:9092'],
  pids: { ingester: 1, retrier: 2, api: 3, runner: 4, postgres: null, kafka: null },
}
const counts = [
  { original_topic: 'orders', status: 'DEAD', count: 3 },
  { original_topic: 'orders', status: 'PENDING', count: 14 },
  { original_topic: 'billing.events.v1', status: 'RESOLVED', count: 1 },
] as const

test('each topic has a line with its counts under the statuses', () => {
  expect(countLines(counts)).toEqual([
    '  original topic      PENDING  RETRYING  RESOLVED      DEAD',
    '  orders                   14         0         0         3',
    '  billing.events.v1         0         0         1         0',
  ])
})

test('many topics are cut, and the line says how many', () => {
  const many = Array.from({ length: 20 }, (_, n) => ({ original_topic: `t${n}`, status: 'DEAD', count: 1 }) as const)
  expect(countLines(many).at(-1)).toBe('  … and 8 more topics')
})

test('a line for logs has the totals', () => {
  expect(countLine(counts)).toBe('PENDING 14  RETRYING 0  RESOLVED 1  DEAD 3')
})

test('no password is shown', () => {
  expect(summaryLines({ stack, counts, events: ['ingester ended'], demo: true }).join('\n')).not.toContain('secret')
})

test('the console comes first', () => {
  const lines = summaryLines({ stack, counts, events: [], demo: true })
  expect(lines.find((line) => line.includes('http'))).toBe(
    '  Console     http://127.0.0.1:8080/console/          ← open this',
  )
  expect(lines.indexOf('  orders                   14         0         0         3')).toBeGreaterThan(2)
})
