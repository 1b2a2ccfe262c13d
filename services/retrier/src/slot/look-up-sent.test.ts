import type { Sent } from 'dlq-core/queries/retry/slots.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { expect, test } from 'vitest'
import { type LookUpDeps, lookUpSent } from './look-up-sent.ts'

type Fetched = Awaited<ReturnType<NonNullable<LookUpDeps['reader']>['fetchRecords']>>
type Records = Extract<Fetched, { kind: 'records' }>

const log = createLog({ service: 'retrier', level: 'silent' })

/** What stands at an offset: a record that carries a message's id. */
function records({ id, offset = 5, ...more }: { id?: string; offset?: number } & Partial<Records>): Records {
  const headerPairs = [['dlq-message-id', Buffer.from(id ?? '')]] as const
  const messages = id === undefined ? [] : [{ offset: String(offset), headerPairs }]
  const fetched = { kind: 'records', messages, nextOffset: 6n, highWatermark: 9n, isAborted: false, ...more }
  return fetched as unknown as Records
}

/** Answers the questions about each topic one after the other. */
function lookUp(sent: readonly Sent[], answers: Record<string, (Fetched | Error)[]>) {
  const asked: string[] = []
  const fetchRecords: NonNullable<LookUpDeps['reader']>['fetchRecords'] = async ({ topic, partition, offset }) => {
    asked.push(`${topic}/${partition}/${offset}`)
    const answer = answers[topic]!.shift()!
    if (answer instanceof Error) throw answer
    return answer
  }
  return lookUpSent({ reader: { fetchRecords }, log }, sent).then((fates) => ({
    fates: Object.fromEntries(fates),
    asked,
  }))
}

const at = (id: string, { topic = 'orders', partition = 0, offset = 5n as bigint | null } = {}): Sent => ({
  ...{ id, topic, partition, offset },
})

test.each<[string, Fetched[], string | undefined]>([
  ['is committed where it stands at its offset', [records({ id: 'a' })], 'committed'],
  ['is aborted where Kafka says so', [records({ isAborted: true })], 'aborted'],
  ['is not known where another message has its offset: the topic was created again', [records({ id: 'b' })], undefined],
  ['is not known where the log was cut', [records({ id: 'a', offset: 7, nextOffset: 8n })], undefined],
  ['is not known where Kafka has it no more', [{ kind: 'out-of-range', lowOffset: 6n }], undefined],
  [
    'is asked for again while an open transaction hides it',
    [records({ nextOffset: 5n }), records({ id: 'a' })],
    'committed',
  ],
])('a record %s', async (_, answers, fate) => {
  const { fates, asked } = await lookUp([at('a')], { orders: [...answers] })
  expect(fates).toEqual(fate === undefined ? {} : { a: fate })
  expect(asked).toEqual(answers.map(() => 'orders/0/5'))
})

test('the records of a partition share their fate, which one of them tells, and those of other partitions have theirs', async () => {
  const sent = [
    ...[at('a', { offset: null }), at('b'), at('c', { offset: 6n })],
    ...[at('d', { partition: 1 }), at('e', { topic: 'nameless', offset: null }), at('f', { topic: 'forbidden' })],
  ]
  const orders = [records({ id: 'b' }), records({ isAborted: true })]
  const { fates, asked } = await lookUp(sent, { orders, forbidden: [new Error('not authorized')] })
  expect(fates).toEqual({ a: 'committed', b: 'committed', c: 'committed', d: 'aborted' })
  expect(asked).toEqual(['orders/0/5', 'orders/1/5', 'forbidden/0/5'])
})
