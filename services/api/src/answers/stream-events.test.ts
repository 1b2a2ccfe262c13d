import { createLog } from 'dlq-core/runtime/log.ts'
import { Hono } from 'hono'
import { Registry } from 'prom-client'
import { expect, test, vi } from 'vitest'
import { actAs, anonymous } from '../access/access.ts'
import type { ApiEnv } from '../http/define-route.ts'
import { createEventStreams } from '../http/event-streams.ts'
import { streamEvents } from './stream-events.ts'

test('a stream whose writing fails ends, gives its place back, and says why in the log', async () => {
  const log = createLog({ service: 'test', level: 'silent' })
  const logged = vi.spyOn(log, 'info')
  const printed = vi.spyOn(console, 'error')
  const eventStreams = createEventStreams(new Registry(), { maxPerActor: 1, maxInAll: 1 })
  const app = new Hono<ApiEnv>().get('/', (c) =>
    streamEvents({ c, log, eventStreams, access: actAs(anonymous, 'read')! }, async (stream) => {
      await stream.writeSSE({ data: 'begun' })
      throw new Error('the database went away')
    }),
  )
  for (const _ of [1, 2]) expect(await (await app.request('/')).text()).toBe('data: begun\n\n')
  expect(logged).toHaveBeenCalledWith(expect.objectContaining({ error: expect.any(Error) }), 'event_stream_failed')
  expect(printed).not.toHaveBeenCalled()
})
