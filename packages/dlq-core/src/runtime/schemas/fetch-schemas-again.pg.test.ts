// A registry that was set up anew gives old ids new meanings: when an id is asked for again, and what follows.

import type { ServerResponse } from 'node:http'
import { schemas as schemasSchema } from 'dlq-core/runtime/config/schemas-schema.ts'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { createPayloadReader } from './payload-reader.ts'
import { useFetching } from './test-fetching.ts'

const fetching = useFetching()
const { database, service, parts, want } = fetching

describe('an id that means another schema by now', () => {
  const [old, other] = ['{"type":"record","name":"Old","fields":[{"name":"n","type":"int"}]}', '"string"']
  const doubtful = () => database.sql`
    update dlq.dlq_schemas set known_at = now() - interval '2 days', next_try_at = now() - interval '1 day'`
  const fits = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, 0, 1, text.length * 2]), Buffer.from(text)])

  /** What a service shows that knows the old meaning. */
  async function reader() {
    fetching.registry.answer('/schemas/ids/1', { schema: old })
    await want(1)
    await parts().fetchSchemas()
    let now = Date.now()
    const schemas = v.parse(schemasSchema, {
      registries: [{ name: 'main', type: 'confluent', url: fetching.registry.url, topics: ['*'] }],
    })
    const payloads = createPayloadReader({ sql: service.sql, schemas, now: () => now })
    const topics = { original_topic: 'orders', dlq_topic: null }
    const read = async (bytes: Buffer) =>
      (await payloads.readAll([{ bytes, part: 'value', headers: [], topics }], { maxBytes: 1000 }))[0]!
    expect(await read(Buffer.from([0, 0, 0, 0, 1, 2]))).toMatchObject({ json: '{"n":1}' })
    return { read, aMinuteLater: () => (now += 60_000) }
  }

  test('is asked for again where a value does not fit a schema that is older than a day, and read with the other', async () => {
    const { read, aMinuteLater } = await reader()
    fetching.registry.answer('/schemas/ids/1', { schema: other })
    // Known for less than a day: nobody doubts it, whatever strangers write.
    expect(await read(fits('hello'))).toMatchObject({ json: null, decoding: { state: 'failed' } })
    await parts().fetchSchemas()
    expect(fetching.registry.asked).toHaveLength(1)

    await doubtful()
    aMinuteLater()
    expect(await read(fits('hello'))).toMatchObject({ json: null, decoding: { state: 'failed' } })
    await parts().fetchSchemas()
    expect(fetching.registry.asked).toHaveLength(2)
    aMinuteLater()
    expect(await read(fits('hello'))).toMatchObject({ json: '"hello"', decoding: { state: 'decoded' } })
    // The next day begins now.
    expect(await read(Buffer.from([0, 0, 0, 0, 1, 2]))).toMatchObject({ json: null })
    await parts().fetchSchemas()
    expect(fetching.registry.asked).toHaveLength(2)
  })

  test('is read with the other, also by a service that knows the old one, where a value fits both', async () => {
    const { read, aMinuteLater } = await reader()
    fetching.registry.answer('/schemas/ids/1', { schema: old.replace('"n"', '"m"') })
    await database.sql`update dlq.dlq_schemas set recheck_at = now()`
    await parts().fetchSchemas()
    aMinuteLater()
    expect(await read(Buffer.from([0, 0, 0, 0, 1, 2]))).toMatchObject({ json: '{"m":1}' })
  })

  test.each([
    ['missing', (response: ServerResponse) => response.writeHead(404).end('{"error_code":40403}'), null],
    ['away', (response: ServerResponse) => response.writeHead(503).end(), true],
  ])('stays where the registry is %s', async (_, how, isAskedAgain) => {
    await reader()
    await database.sql`update dlq.dlq_schemas set recheck_at = now()`
    fetching.registry.misbehave(how)
    await parts().fetchSchemas()
    const [row] = await database.sql`
      select state, definition, case when recheck_at is not null then recheck_at > now() - interval '1 minute' end as again
      from dlq.dlq_schemas`
    expect(row).toEqual({ state: 'known', definition: old, again: isAskedAgain })
    fetching.registry.misbehave(null)
  })
})
