// The specification's endpoints: dead letters of a topic, one dead letter, and their retries.

import { countMessagesOfTopic, deleteMessage, getMessage, listMessagesOfTopic } from 'dlq-core/queries/message-read.ts'
import type { TopicColumn } from 'dlq-core/queries/message-retry.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { isDlqTopic } from 'dlq-core/queries/topics.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { type Context, Hono } from 'hono'
import { ApiError, notFound } from '../api-error.ts'
import type { ApiEnv } from '../app.ts'
import { messageJson, messageListJson } from '../message-json.ts'
import { refuseWithoutKafka } from '../refuse-without-kafka.ts'
import { noQuery, pageQuery, parseMessageId, parseQuery, parseTopic, parseWait } from '../request-schemas.ts'
import { retryMessage } from '../retry-message.ts'
import { retryTopic } from '../retry-topic.ts'
import { createWakeRetriers } from '../wake-retriers.ts'

export type DlqRoutesDeps = {
  sql: Database
  retryWaitMs: number
  /** Ends the waits of retries, because the service stops. */
  stopping: AbortSignal
}

export function dlqRoutes({ sql, retryWaitMs, stopping }: DlqRoutesDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const wakeRetriers = createWakeRetriers(sql)

  app.get('/messages/:id', async (c) => {
    const id = parseMessageId(c.req.param('id'))
    parseQuery(noQuery, c.req.queries())
    const message = await getMessage(sql, id)
    if (!message) throw notFound(id)
    return sendJson(c, messageJson(message))
  })

  app.delete('/messages/:id', async (c) => {
    const id = parseMessageId(c.req.param('id'))
    parseQuery(noQuery, c.req.queries())
    const outcome = await deleteMessage(sql, id)
    if (outcome === 'not_found') throw notFound(id)
    if (outcome === 'retrying')
      throw new ApiError('SYS_DLQ_CONFLICT', `message ${id} is being retried; delete it when that is settled`)
    return c.json({ success: true, message: `message ${id} deleted` })
  })

  app.post('/messages/:id/retry', async (c) => {
    const id = parseMessageId(c.req.param('id'))
    parseQuery(noQuery, c.req.queries())
    const waitMs = parseWait(c.req.header('prefer'), retryWaitMs)
    const { done, body } = await retryMessage(sql, {
      id,
      waitMs,
      signal: AbortSignal.any([c.req.raw.signal, stopping]),
      wakeRetriers,
    })
    return c.json(body, done ? 200 : 202)
  })

  app.get('/:topic', async (c) => {
    const topic = parseTopic(c.req.param('topic'))
    const { page, page_size: pageSize } = parseQuery(pageQuery, c.req.queries())
    // One snapshot, so that the count and the page agree.
    const [totalCount, messages] = await sql.begin('isolation level repeatable read read only', async (sql) => {
      const column = await columnOf(sql, topic)
      return Promise.all([
        countMessagesOfTopic(sql, { column, topic }),
        listMessagesOfTopic(sql, { column, topic, limit: pageSize, offset: (page - 1) * pageSize }),
      ])
    })
    return sendJson(c, messageListJson(messages, { totalCount, page, pageSize }))
  })

  app.post('/:topic/retry-all', async (c) => {
    const topic = parseTopic(c.req.param('topic'))
    // A filter that is ignored would retry what nobody asked for.
    parseQuery(noQuery, c.req.queries())
    await refuseWithoutKafka(sql)
    const retried = await retryTopic(sql, { column: await columnOf(sql, topic), topic, wakeRetriers })
    return c.json({ retried, message: `${retried} messages retried in topic ${topic}` })
  })

  return app
}

/** A known DLQ topic means what was read from it; any other name, what came from there. One index each, never an OR. */
async function columnOf(sql: Sql, topic: string): Promise<TopicColumn> {
  return (await isDlqTopic(sql, topic)) ? 'dlq_topic' : 'original_topic'
}

function sendJson(c: Context, json: string): Response {
  return c.body(json, 200, { 'content-type': 'application/json' })
}
