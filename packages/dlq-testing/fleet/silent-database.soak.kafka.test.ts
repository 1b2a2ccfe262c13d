// The connections to PostgreSQL carry nothing any more, and nobody says so: its host died and another one took over its name,
// or a firewall forgot them. Services give them up, and go on with new ones.
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { openSilentNetwork, type SilentNetwork } from 'dlq-testing/postgres-faults/silent-network.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const rounds = 3
const perRound = 200
const statementMs = 2000
/** A statement's time, and 15 s more, by looks that are an eighth of that apart; and as long again for a busy machine. */
const recoverMs = 2 * 1.125 * (statementMs + 15_000)

const env: NodeJS.ProcessEnv = {
  DLQ_DATABASE_STATEMENT_TIMEOUT: `${statementMs}ms`,
  DLQ_SERVER_REQUEST_TIMEOUT: '3s',
  DLQ_RETRY_INITIAL_DELAY: '200ms',
  DLQ_RETRY_LEASE: '5s',
}
const fleet = useFleet('silent', { partitions: 2, env })
let network: SilentNetwork | undefined

beforeAll(async () => {
  network = await openSilentNetwork(fleet.database.url)
  env.DATABASE_URL = network.url
  await fleet.services.startAll()
})
afterAll(async () => {
  await fleet.services.stop()
  await network?.[Symbol.asyncDispose]()
})

async function produce(from: number): Promise<void> {
  const messages = Array.from({ length: perRound }, (_, n) =>
    numberedDeadLetter(from + n, {
      topic: fleet.original,
      partitions: 2,
      group: 'g',
      value: Buffer.from(`${from + n}`),
    }),
  )
  await fleet.producer.send({ topic: fleet.dlq, messages })
}

async function countResolved(): Promise<number> {
  const [row] = await fleet.database.sql<{ n: number }[]>`
    select count(*)::int as n from dlq.dlq_messages where status = 'RESOLVED'`
  return row!.n
}

test('ingesters, retriers and the API go on in bounded time, and each message is sent once', async () => {
  await produce(0)
  await eventually(async () => expect(await countResolved()).toBe(perRound))
  for (let round = 1; round <= rounds; round += 1) {
    await produce(round * perRound)
    // In the middle of it.
    await eventually(async () => expect(await countResolved()).toBeGreaterThan(round * perRound), { intervalMs: 5 })
    expect(network!.silence()).toBeGreaterThan(3)
    const since = performance.now()
    await eventually(async () => expect(await countResolved()).toBe((round + 1) * perRound))
    await eventually(async () => expect((await fleet.services.request('/readyz')).status).toBe(200))
    const tookMs = Math.round(performance.now() - since)
    console.log(`round ${round}: after ${tookMs} ms`)
    expect(tookMs).toBeLessThan(recoverMs)
  }
  const groupId = fleet.topics.groupName('reader')
  const records = await readTopic(fleet.topics.kafka, { topic: fleet.original, groupId })
  const values = records.map(({ value }) => String(value))
  expect(values).toHaveLength((rounds + 1) * perRound)
  expect(new Set(values).size).toBe(values.length)
})
