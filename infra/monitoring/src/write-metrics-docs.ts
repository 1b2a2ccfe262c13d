// Writes the tables of infra/docs/metrics.md: node infra/monitoring/src/write-metrics-docs.ts

import { readFileSync, writeFileSync } from 'node:fs'
import { withTables } from './metrics-tables.ts'

const file = new URL('../../docs/metrics.md', import.meta.url)
writeFileSync(file, withTables(readFileSync(file, 'utf8')))
