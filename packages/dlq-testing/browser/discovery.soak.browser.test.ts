// From a topic that nobody reads to its dead letters in the list: found, looked at, read, and nothing sent by itself.

import { expect, test } from 'vitest'
import { failureNamed } from '../src/browser/console-topics.ts'
import { countSteps } from '../src/browser/counted-steps.ts'
import { expectAccessible } from '../src/browser/expect-accessible.ts'
import { useConsole } from '../src/browser/use-console.ts'
import { eventually } from '../src/eventually.ts'
import { createTopics } from '../src/kafka/create-topics.ts'
import { useTopics } from '../src/kafka/test-topics.ts'
import { springDeadLetter } from '../src/rows/spring-dead-letter.ts'

const console_ = useConsole()
const topics = useTopics()

/** What no pattern of the fleet reads. */
async function createUnread(name: string): Promise<{ original: string; dlq: string }> {
  const original = topics.topicName(`browser-${name}`)
  const dlq = topics.claimTopic(`${original}-dlt`)
  await createTopics(
    topics.admin,
    [original, dlq].map((topic) => ({ topic, numPartitions: 1 })),
  )
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const at = Date.now() - 60_000
  const messages = [1n, 2n, 3n].map((offset) =>
    springDeadLetter({
      ...{ topic: original, group: 'billing', partition: 0, offset, timestamp: BigInt(at), headers: [] },
      ...{ key: Buffer.from(`key-${offset}`), value: Buffer.from(`{"n":${offset}}`) },
      error: failureNamed('WizardFailure', 'amount -5 is negative'),
    }),
  )
  await producer.send({ topic: dlq, messages })
  await producer.disconnect()
  return { original, dlq }
}

test('from the first page in three steps a topic is found, looked at and read, and its backlog waits for somebody', async () => {
  const { original, dlq } = await createUnread('wizard')
  await eventually(async () => {
    const answer = await fetch(`${console_.fleet.open}/api/v1/topics?kind=candidate&limit=100`)
    expect(await answer.text()).toContain(`"${dlq}"`)
  })
  const page = await console_.open('/')
  const steps = countSteps(page, 'mouse')
  await steps.click(page.getByRole('navigation').getByRole('link', { name: 'Topics' }).first())
  await page.getByText('Topics that look like DLQ topics, and that nobody reads').waitFor()
  await steps.click(page.getByRole('button', { name: `Read ${dlq}` }))
  await page.getByText(/^spring.*100 % name their original topic/i).waitFor()
  await page.getByText(`The newest is from ${original}, consumer group billing: amount -5 is negative`).waitFor()
  const manual = page.getByRole('radio', { name: 'What is there now is sent only when somebody asks' })
  expect(await manual.isChecked()).toBe(true)
  await expectAccessible(page)
  await steps.click(page.getByRole('dialog').getByRole('button', { name: 'Read it' }))
  await page.getByText(`${dlq} is read from now on`).waitFor()
  steps.expectAtMost(3)
  await page.getByRole('button', { name: `Read ${dlq}` }).waitFor({ state: 'hidden' })

  await eventually(async () => {
    const rows = await console_.sql`select status, next_retry_at from dlq.dlq_messages where dlq_topic = ${dlq}`
    expect(rows).toHaveLength(3)
    expect(rows.every(({ status, next_retry_at }) => status === 'PENDING' && next_retry_at === null)).toBe(true)
  })
  await page.goto(`${console_.fleet.open}/console/messages?topic=${dlq}`)
  await page.getByText('3 messages match.').waitFor()
})

test('a topic that is none is dismissed, and is not listed again', async () => {
  const { dlq } = await createUnread('dismissed')
  const page = await eventually(async () => {
    const answer = await fetch(`${console_.fleet.open}/api/v1/topics?kind=candidate&limit=100`)
    expect(await answer.text()).toContain(`"${dlq}"`)
    return console_.open('/events?type=topic.found')
  })
  await page.getByRole('row', { name: dlq }).getByRole('link').click()
  const steps = countSteps(page, 'mouse')
  await steps.click(page.getByRole('button', { name: `Dismiss ${dlq}` }))
  await steps.click(page.getByRole('dialog').getByRole('button', { name: 'Dismiss it' }))
  await page.getByText(`${dlq} is not listed any more`).waitFor()
  steps.expectAtMost(2)
  await page.reload()
  await page.getByRole('heading', { name: 'Topics', level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
  expect(await page.getByRole('button', { name: `Dismiss ${dlq}` }).count()).toBe(0)
})
