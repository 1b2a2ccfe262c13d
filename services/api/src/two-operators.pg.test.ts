// Two operators who know nothing of each other edit, retry, give up and revive the same message at random, while
// retriers work. Whatever happens, one version of it is sent, the one that the last edit made, and the audit
// tells the whole story.
import { setTimeout as sleep } from 'node:timers/promises'
import { deriveAttemptId } from 'dlq-core/message-id.ts'
import { settleAttempts } from 'dlq-core/queries/attempts.ts'
import { type ClaimedMessage, settleMessages } from 'dlq-core/queries/batches.ts'
import { releaseSlot } from 'dlq-core/queries/slots.ts'
import { toRepublishedRecord } from 'dlq-core/republished-record.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { claimDue } from 'dlq-testing/claim-due.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/message-rows.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from './test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const isSoak = process.env.DLQ_SOAK === '1'
const messages = isSoak ? 1000 : 12

let request: TestApp
beforeAll(() => {
  request = createTestApp(service.sql)
})

type Step = 'edit' | 'retarget' | 'retry' | 'dead' | 'revive' | 'wait'
const operator = fc.array(fc.constantFrom<Step>('edit', 'edit', 'retarget', 'retry', 'dead', 'revive', 'wait'), {
  minLength: 2,
  maxLength: 6,
})

/** What one operator saw: which of the steps were accepted, and what they said. */
type Accepted = { step: Step; value?: string }

async function work(id: string, name: string, steps: readonly Step[]): Promise<Accepted[]> {
  const accepted: Accepted[] = []
  const path = `/api/v1/dlq/messages/${id}`
  for (const [number, step] of steps.entries()) {
    if (step === 'wait') {
      await sleep(5)
      continue
    }
    const seen = await request(`GET ${path}`)
    const headers = { 'content-type': 'application/json', 'if-match': seen.headers.get('etag')!, prefer: 'wait=0' }
    const value = `${name} ${number}`
    const body = {
      edit: { value: { text: value }, reason: name },
      retarget: { target_topic: `${name}-${number}`, reason: name },
    }[step as string]
    const target = body ? `PATCH ${path}` : `POST ${path}/${step}`
    const response = await request(target, { headers, body: JSON.stringify(body ?? { reason: name }) })
    // One wins; the other is told so.
    expect([200, 202, 409, 412], `${step}: ${response.status}`).toContain(response.status)
    if (response.ok) accepted.push({ step, ...(step === 'edit' && { value }) })
  }
  return accepted
}

/** Publishes like a retrier, into an array. A record is on its way for a moment, in which nothing may change it. */
function startRetrier(sql: Database, sent: { id: string; value: string; topic: string }[]) {
  let stopped = false
  const publish = (message: ClaimedMessage) => {
    const { value } = toRepublishedRecord(message)
    sent.push({ id: message.id, value: value!.toString(), topic: message.target_topic ?? message.original_topic })
  }
  const pass = async () => {
    const { messages: claimed, ...batch } = await claimDue(sql)
    await sleep(3)
    claimed.forEach(publish)
    await sql.begin(async (sql) => {
      const settled = claimed.map(({ id }) => ({ id, status: 'RESOLVED' as const, next_retry_at: null }))
      await settleMessages(sql, { ...batch, messages: settled })
      await releaseSlot(sql, batch)
      await settleAttempts(sql, {
        attempts: claimed.map(({ id, retry_count, original_topic }) => ({
          ...{
            message_id: id,
            number: retry_count,
            attempt_id: deriveAttemptId(id, retry_count),
            outcome: 'published',
          },
          ...{ target_topic: original_topic, target_partition: 0, target_offset: 0n, error: null },
        })),
      })
    })
  }
  const running = (async () => {
    while (!stopped) {
      await pass()
      await sleep(2)
    }
  })()
  return {
    async stop() {
      stopped = true
      await running
    },
  }
}

const title = 'one version is sent, the last one, and the audit tells of every change and of no other'
test(title, { timeout: isSoak ? 60 * 60_000 : 180_000 }, async () => {
  const sent: { id: string; value: string; topic: string }[] = []
  const retriers = [startRetrier(service.sql, sent), startRetrier(service.sql, sent)]
  try {
    await fc.assert(
      fc.asyncProperty(operator, operator, async (first, second) => {
        const id = await insertMessageRow(database.sql, {
          dlq_topic: 'orders.dlq.v1',
          record_value: Buffer.from('as it came'),
          record_headers: [],
        })
        const accepted = await Promise.all([work(id, 'maria', first), work(id, 'jun', second)])
        await finish(id)
        const row = await readMessageRow(database.sql, id)
        const records = sent.filter((record) => record.id === id)
        expect(records).toEqual([
          { id, value: row.record_value.toString(), topic: row.target_topic ?? 'orders.events.v1' },
        ])

        const entries = await database.sql<{ action: string; reason: string }[]>`
          select action, reason from dlq.dlq_audit where target_id = ${id} order by id`
        for (const [at, name] of ['maria', 'jun'].entries()) {
          const told = entries.filter(({ reason }) => reason === name).map(({ action }) => action)
          // A retry of what was being sent already changed nothing.
          const retries = accepted[at]!.filter(({ step }) => step === 'retry').length
          expect(told.filter((action) => action === 'message.retry').length).toBeLessThanOrEqual(retries)
          expect(told.filter((action) => action !== 'message.retry')).toEqual(
            accepted[at]!.filter(({ step }) => step !== 'retry').map(({ step }) => actionOf[step]),
          )
        }
        // Each edit keeps what it replaced, from what came to what was sent.
        const edits =
          await database.sql`select convert_from(record_value, 'UTF8') as value, fields from dlq.dlq_message_edits where message_id = ${id} order by number`
        expect(edits).toHaveLength(accepted.flat().filter(({ step }) => step === 'edit' || step === 'retarget').length)
        const versions = [...edits.map(({ value }) => value), row.record_value.toString()]
        expect(versions[0]).toBe('as it came')
        expect(new Set(versions)).toEqual(
          new Set(['as it came', ...accepted.flat().flatMap(({ value }) => value ?? [])]),
        )
      }),
      { numRuns: messages },
    )
  } finally {
    await Promise.all(retriers.map((retrier) => retrier.stop()))
  }
})

const actionOf: Record<string, string> = {
  edit: 'message.edit',
  retarget: 'message.edit',
  dead: 'message.dead',
  revive: 'message.revive',
}

/** Has the message sent, if it was not. */
async function finish(id: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  for (;;) {
    const { status } = await readMessageRow(database.sql, id)
    if (status === 'RESOLVED') return
    if (status === 'DEAD') await request(`POST /api/v1/dlq/messages/${id}/revive`, { headers })
    await request(`POST /api/v1/dlq/messages/${id}/retry`, { headers })
  }
}
