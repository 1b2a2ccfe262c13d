// A dead letter may hold any bytes. They are stored, and retried to their topic unchanged.
import { createHash, randomBytes } from 'node:crypto'
import { republishHeaderNames } from 'dlq-core/domain/failure/families/own.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const total = soak ? 5000 : 200
const maxSendBytes = 800_000

const fleet = useFleet('bytes', { partitions: 3, env: { DLQ_RETRY_AUTO_RETRY: 'false' } })

beforeAll(() => fleet.services.startAll())

type Content = { key: Buffer | null; value: Buffer | null; headers: Header[] }

/** Odd records that break other programs, one oddity each. `n` makes them differ. */
const oddities: ((n: number) => Partial<Content>)[] = [
  () => ({ value: randomBytes(300), key: randomBytes(16) }),
  () => ({ value: Buffer.alloc(0) }),
  () => ({ value: null }),
  () => ({ key: null }),
  () => ({ key: Buffer.alloc(0), value: null }),
  (n) => ({ value: Buffer.from(`{"n": ${n}, "open": [1, 2`) }),
  (n) => ({ value: Buffer.from(`{"n": ${n}, "big": 1e400000, "long": ${'9'.repeat(500)}}`) }),
  (n) => ({ value: Buffer.from(`{"n": ${n}, "exact": 12345678901234567890.12, "small": 1e-20000}`) }),
  (n) => ({ value: Buffer.from(`{"n": ${n}, "nul": "a\\u0000b", "\\u0000": true}`) }),
  (n) => ({ value: Buffer.from(`{"n": ${n}, "high": "\\ud800", "low": "\\udc00", "wrong": "\\udc00\\ud800"}`) }),
  (n) => ({ value: Buffer.concat([Buffer.from(`{"n": ${n}, "raw": "`), Buffer.from([0xed, 0xa0, 0x80, 0x22, 0x7d])]) }),
  (n) => ({ value: Buffer.from(`\ufeff{"n": ${n}}`) }),
  (n) => ({ value: Buffer.from(`${'['.repeat(20_000)}${n}${']'.repeat(20_000)}`) }),
  (n) => ({ value: Buffer.from(`{"__proto__": {"n": ${n}}, "a": 1, "a": 2, "": null}`) }),
  (n) => ({ value: Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), Buffer.from(`avro ${n}`)]) }),
  (n) => ({ key: Buffer.alloc(4), headers: [['error', Buffer.from(`\0 failure ${n} \xff`, 'latin1')]] }),
  () => ({
    headers: ['__proto__', '', '42', '7', 'constructor', '__proto__', 'é'].map((name) => [name, randomBytes(9)]),
  }),
  (n) => ({
    headers: [
      ['h', null],
      ['h', Buffer.alloc(0)],
      ['h', Buffer.from([0xff, 0])],
      ['h', Buffer.from(`${n}`)],
    ],
  }),
  () => ({ headers: Array.from({ length: 300 }, (_, i) => [`header-${i % 7}`, Buffer.from(String(i))]) }),
]
const hugeBytes = 500_000
const hugeEvery = 100

/** Every second record is odd. */
function contentOf(n: number): Content {
  const plain: Content = {
    key: Buffer.from(`key-${n}`),
    value: Buffer.from(`{"n": ${n}}`),
    headers: [['n', Buffer.from(`${n}`)]],
  }
  if (n % hugeEvery === 1) return { ...plain, value: randomBytes(hugeBytes) }
  return n % 2 === 0 ? plain : { ...plain, ...oddities[(n >> 1) % oddities.length]!(n) }
}

/**
 * Most records have headers with their original topic. For every fourth, only the topic's name tells it; and for those
 * without a value, because what Spring wrote as null waits where the original is not there to compare with.
 */
function toDeadLetter(n: number, content: Content) {
  if (n % 4 === 3 || content.value === null) return content
  return numberedDeadLetter(n, { topic: fleet.original, partitions: 3, group: 'bytes', ...content })
}

/** One line of everything that must not change. The same record gives the same line. */
function fingerprint({ key, value, headers }: Content): string {
  const valueHash = value && createHash('sha256').update(value).digest('hex')
  return JSON.stringify([
    key?.toString('base64') ?? null,
    valueHash,
    headers.map(([name, bytes]) => [name, bytes?.toString('base64') ?? null]),
  ])
}

/** The header that is read as the failure's message, and so is not sent again. */
function isPlainError(n: number, [name]: Header): boolean {
  return n % 4 === 3 && name === 'error'
}

test('records of any bytes are all stored, and all republished byte for byte, each once', async () => {
  const { sql } = fleet.database
  const contents = Array.from({ length: total }, (_, n) => contentOf(n))
  let chunk: ReturnType<typeof toDeadLetter>[] = []
  let bytes = 0
  const send = async () => {
    await fleet.producer.send({ topic: fleet.dlq, messages: chunk })
    chunk = []
    bytes = 0
  }
  for (const [n, content] of contents.entries()) {
    chunk.push(toDeadLetter(n, content))
    bytes += (content.value?.length ?? 0) + 5000
    if (bytes > maxSendBytes / 2) await send()
  }
  await send()

  const count = async (status: string) => {
    const [row] = await sql<
      { count: number }[]
    >`select count(*)::int as count from dlq.dlq_messages where status = ${status}`
    return row!.count
  }
  await eventually(async () => expect(await count('PENDING')).toBe(total), { intervalMs: 100 })
  const digestOf = (bytes: Buffer | null) => bytes && createHash('sha256').update(bytes).digest('hex')
  const stored = await sql<{ key: string | null; value: string | null }[]>`
    select encode(sha256(record_key), 'hex') as key, encode(sha256(record_value), 'hex') as value from dlq.dlq_messages`
  const lines = (rows: { key: string | null; value: string | null }[]) =>
    rows.map(({ key, value }) => `${key} ${value}`).sort()
  expect(lines([...stored])).toEqual(
    lines(contents.map(({ key, value }) => ({ key: digestOf(key), value: digestOf(value) }))),
  )

  const asked = await fleet.services.request(`/api/v1/dlq/${fleet.dlq}/retry-all`, { method: 'POST' })
  // The request may time out, but the run goes on.
  expect([200, 202], asked.text).toContain(asked.status)
  await eventually(async () => expect(await count('RESOLVED')).toBe(total), { intervalMs: 100 })

  const reader = fleet.topics.groupName('reader')
  const records = await readTopic(fleet.topics.kafka, { topic: fleet.original, groupId: reader })
  const ours = new Set<string>(Object.values(republishHeaderNames))
  const republished = records.map(({ key, value, headerPairs }) => ({
    key,
    value,
    headers: headerPairs.filter(([name]) => !ours.has(name)),
  }))
  const expected = contents.map((content, n) => ({
    ...content,
    headers: content.headers.filter((header) => !isPlainError(n, header)),
  }))
  expect(republished.map(fingerprint).sort()).toEqual(expected.map(fingerprint).sort())
  expect(
    new Set(records.map(({ headerPairs }) => String(headerPairs.find(([name]) => name === 'dlq-message-id')?.[1])))
      .size,
  ).toBe(total)
})
