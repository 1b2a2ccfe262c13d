// Archives once, by the database's own procedure, for a CronJob that replaces the retriers' cron job. It applies
// one retention to every topic; the retriers follow each topic's policy.

import { parseArgs } from 'node:util'
import { ConfigError } from 'dlq-core/runtime/config/config.ts'
import pg from 'pg'
import { databaseUrlOf } from './database-url.ts'
import { useOwnSettings } from './own-settings.ts'

const usage = 'usage: node db/archive.ts [--retention-days=30] [--batch-size=1000]'

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { 'retention-days': { type: 'string', default: '30' }, 'batch-size': { type: 'string', default: '1000' } },
  })
  const [days, batchSize] = [Number(values['retention-days']), Number(values['batch-size'])]
  if (![days, batchSize].every((value) => Number.isInteger(value) && value > 0)) {
    console.error(usage)
    return 64
  }
  const client = new pg.Client({ connectionString: databaseUrlOf(process.env), application_name: 'dlq-archive' })
  client.on('notice', ({ message }) => console.log(message))
  await client.connect()
  try {
    await useOwnSettings(client)
    await client.query('call dlq.archive_old_dlq_messages(p_retention_days := $1, p_batch_size := $2)', [
      days,
      batchSize,
    ])
    return 0
  } finally {
    await client.end()
  }
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message)
  return error instanceof ConfigError ? 78 : 1
})
