import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import type { Sql } from '../sql.ts'
import { listKeyFrames } from './key-frames.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

test('one key is found for each frame, and keys too short for one take no step each', async () => {
  const integers = Array.from({ length: 20 }, (_, n) => `000000${(n + 1).toString(16).padStart(2, '0')}`)
  const version = '6bd5a1c200014f0080000123456789ab'
  const [glue, single, apicurio, confluent, behindThem] = [
    `0300${version}01`,
    'c30157b617c457cf87af0e6f',
    '00000000000000000901',
    '000000000501',
    '000001869f01',
  ]
  const others = [`0305${version}01`, `0300${version}`, 'c30257b617c457cf87af0e6f', '0102030405060708']
  for (const key of [...integers, glue, single, apicurio, confluent, '000000000502', behindThem, ...others])
    await insertMessageRow(database.sql, { record_key: Buffer.from(key, 'hex') })
  let statements = 0
  const counted = ((...statement: Parameters<Sql>) => {
    statements += 1
    return service.sql(...statement)
  }) as Sql
  const found = await listKeyFrames(counted, { limit: 50 })
  expect(found.map((key) => key.toString('hex'))).toEqual([glue, single, apicurio, confluent, behindThem])
  expect(statements).toBe(found.length + 3)
  expect(await listKeyFrames(service.sql, { limit: 2 })).toHaveLength(2)
})
