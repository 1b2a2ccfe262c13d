// The metrics of the looks for newer records.

import { Counter, type Registry } from 'prom-client'
import { countFromZero } from '../count-from-zero.ts'

export type StalenessMetrics = ReturnType<typeof createStalenessMetrics>

export function createStalenessMetrics(registry: Registry) {
  const registers = [registry]
  return {
    scannedBytes: new Counter({
      name: 'dlq_staleness_read_bytes_total',
      help: 'Bytes read of original topics to find newer records of the keys of dead letters.',
      registers,
    }),
    answers: countFromZero(
      new Counter({
        name: 'dlq_staleness_answers_total',
        help: 'Answers about newer records: superseded, unknown, and fresh at the first time.',
        labelNames: ['answer'],
        registers,
      }),
      'answer',
      ['superseded', 'unknown', 'fresh'],
    ),
  }
}
