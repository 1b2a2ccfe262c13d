// Each service with the ACLs that security.md lists, and no others, on a broker with Kafka's own authorizer: they are
// enough for its work, each of them is necessary, and where one is missing the service says which.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { type Acl, type AuthorizedKafka, startAuthorizedKafka } from 'dlq-testing/kafka/authorized-kafka.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { numberedDeadLetter, springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Producer } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const page = readFileSync(new URL('../../../infra/docs/security.md', import.meta.url), 'utf8')
const topics = { original: 'orders', dlq: 'orders.dlq.v1' }
/** Its policy holds what is not known to be fresh. The retrier may not read it. */
const guarded = { original: 'guarded', dlq: 'guarded.dlq.v1' }

/** The rows of the table "Kafka" of security.md, an entry for each operation. */
const listed: Acl[] = [
  ...page.matchAll(/^\| (ingester|retrier) \| (Topic|Group|TransactionalId) (.+?) \| ([A-Za-z, ]+?) \| .+ \|$/gm),
].flatMap(([, user, type, name, operations]) =>
  operations!.split(', ').map((operation) => ({
    user: user!,
    type: type as Acl['type'],
    name: nameOf(name!),
    operation,
  })),
)

/** "`dlq-retrier-` (prefixed)" → "dlq-retrier-*"; what stands for the cluster's own topics → that of this test. */
function nameOf(words: string): string {
  const [, name, prefixed] = /^`([^`]+)`( \(prefixed\))?$/.exec(words) ?? []
  if (name !== undefined) return prefixed ? `${name}*` : name
  return words === 'each DLQ topic' ? topics.dlq : topics.original
}

const database = useDatabase()
const logs = useLogFolder()
const reaper = createReaper()
let cluster: AuthorizedKafka
let fleet: Fleet
let producer: Producer
let sent = 0

beforeAll(async () => {
  cluster = await startAuthorizedKafka({ dataDir: join(logs.path, 'kafka'), reaper, users: ['ingester', 'retrier'] })
  await createTopicsNamed(cluster.kafka, [...Object.values(topics), ...Object.values(guarded)], 1)
  const ofGuarded = ({ type, name }: Acl) => type === 'Topic' && Object.values(topics).includes(name)
  const names = { [topics.original]: guarded.original, [topics.dlq]: guarded.dlq }
  for (const acl of listed) await cluster.allow(acl)
  for (const acl of listed.filter(ofGuarded)) await cluster.allow({ ...acl, name: names[acl.name]! })
  // Long before its messages: services read policies now and then.
  await database.sql`insert into dlq.dlq_policies (pattern, staleness) values (${guarded.original}, 'hold')`
  producer = cluster.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  fleet = createFleet({
    databaseUrl: database.url,
    kafkaBrokers: cluster.securedBrokers,
    reaper,
    topicPattern: '*.dlq.v1',
    consumerGroup: 'dlq-manager.default',
    logDir: logs.path,
    env: {
      DLQ_RETRY_INITIAL_DELAY: '100ms',
      DLQ_RETRY_MAX_RETRIES: '100',
      DLQ_RETRY_MULTIPLIER: '1',
      DLQ_RETRY_TRANSACTIONAL_ID_PREFIX: 'dlq-retrier',
    },
  })
  await Promise.all([start('ingester'), start('retrier')])
})

afterAll(async () => {
  await fleet?.stop()
  await producer?.disconnect()
  await cluster?.admin.disconnect()
  await reaper.close()
})

async function start(name: 'ingester' | 'retrier'): Promise<void> {
  const service = await fleet.start(name, name, cluster.envOf(name))
  await service.ready()
}

/** Sends a dead letter. Returns its key. */
async function sendDeadLetter(): Promise<string> {
  sent += 1
  const key = `order-${sent}`
  const letter = numberedDeadLetter(sent, {
    topic: topics.original,
    partitions: 1,
    group: 'billing',
    key: Buffer.from(key),
  })
  await producer.send({ topic: topics.dlq, messages: [letter] })
  return key
}

/** Sends a record, and the dead letter of a share group, which has only the record's place. */
async function sendPlaceOnly(): Promise<string> {
  sent += 1
  const key = `order-${sent}`
  const [stored] = await producer.send({ topic: topics.original, messages: [{ key, value: `{"n":${sent}}` }] })
  const headers = {
    '__dlq.errors.topic': topics.original,
    '__dlq.errors.partition': '0',
    '__dlq.errors.offset': stored!.baseOffset!,
    '__dlq.errors.group': 'billing',
    '__dlq.errors.message': 'rejected',
  }
  await producer.send({ topic: topics.dlq, messages: [{ value: null, headers }] })
  return key
}

const statusOf = async (key: string) => {
  const [row] = await database.sql<{ status: string }[]>`
    select status from dlq.dlq_messages where record_key = ${Buffer.from(key)}`
  return row?.status
}

const untilResolved = (key: string) => eventually(async () => expect(await statusOf(key)).toBe('RESOLVED'))

const logOf = (user: string) => readFileSync(join(logs.path, `${user}.log`), 'utf8')

test('the list has every service that talks to Kafka', () => {
  expect(new Set(listed.map(({ user }) => user))).toEqual(new Set(['ingester', 'retrier']))
  expect(listed.length).toBeGreaterThanOrEqual(10)
})

test('with the ACLs of the list, and no others, dead letters are stored, completed and sent', async () => {
  await untilResolved(await sendDeadLetter())
  await untilResolved(await sendPlaceOnly())
  const records = await readTopic(cluster.kafka, { topic: topics.original, groupId: 'reader' })
  expect(records.map(({ key }) => String(key))).toEqual(['order-1', 'order-2', 'order-2'])
  // The loss clock: what the topic's settings say.
  await eventually(async () => {
    const [topic] = await database.sql`select retention_ms from dlq.dlq_topics where topic = ${topics.dlq}`
    expect(topic).toMatchObject({ retention_ms: expect.anything() })
  })
  expect(logOf('ingester')).not.toContain('acl_missing')
})

describe('a stolen login', () => {
  const forbidden = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => null,
      (error: Error & { errors?: Error[] }) => error,
    )
    // kafkajs puts what it says of each topic into a list.
    expect([error?.message, ...(error?.errors ?? []).map(({ message }) => message)].join()).toMatch(/not authorized/i)
  }

  test('of the ingester writes nowhere', async () => {
    const thief = cluster.clientOf('ingester').producer({ allowAutoTopicCreation: false })
    await thief.connect()
    try {
      for (const topic of Object.values(topics)) await forbidden(thief.send({ topic, messages: [{ value: 'x' }] }))
    } finally {
      await thief.disconnect()
    }
  })

  test('of the retrier reads no dead letter, and creates no topic but the ledger', async () => {
    const kafka = cluster.clientOf('retrier')
    const thief = kafka.admin()
    await thief.connect()
    try {
      await forbidden(thief.fetchTopicOffsets(topics.dlq))
      await forbidden(thief.createTopics({ topics: [{ topic: 'mine' }], waitForLeaders: false }))
    } finally {
      await thief.disconnect()
    }
  })
})

/** What the fleet's status says of it. */
const faultOf = async (name: string) =>
  (await database.sql<{ fault: string | null }[]>`select fault from ${database.sql(`dlq.dlq_${name}s`)}`)[0]?.fault

/** Why it is not ready; empty where it is. */
const unreadyBy = async (name: string) => {
  const answer = await fetch(`${fleet.get(name).url}/readyz`)
  return answer.ok ? '' : await answer.text()
}

/**
 * What each ACL is missed by, in the words of the service that needs it. Describe comes with Read and with Write. `shows`: in
 * /readyz and the fleet's status, too.
 */
const missed: { acl: RegExp; says: string; send?: () => Promise<string>; restart?: true; shows?: true }[] = [
  { acl: /^ingester Group .* Read$/, says: 'Read on Group dlq-manager.default', shows: true },
  { acl: /^ingester Topic orders.dlq.v1 Read$/, says: 'Read on Topic orders.dlq.v1' },
  {
    acl: /^ingester Topic orders.dlq.v1 DescribeConfigs$/,
    says: 'DescribeConfigs on Topic orders.dlq.v1',
    restart: true,
  },
  { acl: /^ingester Topic orders Read$/, says: 'Read on Topic orders"', send: sendPlaceOnly },
  {
    acl: /^retrier Topic orders Write$/,
    says: 'orders: the retrier may not write to the topic (ACL: Write on the topic)',
  },
  {
    acl: /^retrier TransactionalId .* Write$/,
    says: 'allow Describe and Write on TransactionalId dlq-retrier- (prefixed)',
    shows: true,
  },
  { acl: /^retrier Group .* Read$/, says: 'Read on Group dlq-retrier-ledger- (prefixed)', shows: true },
  {
    acl: /^retrier Topic dlq-manager.ledger Read$/,
    says: 'allow Read and Describe on Topic dlq-manager.ledger',
    shows: true,
  },
]

describe('with one ACL missing', () => {
  const waiting: string[] = []
  test.each(missed)(
    '$acl: the service says which',
    async ({ acl: wanted, says, send = sendDeadLetter, restart, shows }) => {
      const acl = listed.find(({ user, type, name, operation }) => wanted.test(`${user} ${type} ${name} ${operation}`))!
      // What the case before left behind has ended.
      await untilResolved(await sendDeadLetter())
      const before = logOf(acl.user).length
      await cluster.revoke(acl)
      try {
        if (restart) await restartService(acl.user)
        const key = await send()
        await eventually(() => expect(logOf(acl.user).slice(before)).toContain(says))
        if (shows) await eventually(async () => expect(await unreadyBy(acl.user)).toContain(says))
        if (shows) await eventually(async () => expect(await faultOf(acl.user)).toContain(says))
        if (send === sendDeadLetter) waiting.push(key)
      } finally {
        await cluster.allow(acl)
      }
      await eventually(async () => {
        // What was refused for its topic waits for a person.
        await database.sql`
        update dlq.dlq_messages set next_retry_at = now() where status = 'PENDING' and next_retry_at is null and record_key is not null`
        for (const key of waiting) expect(await statusOf(key)).toBe('RESOLVED')
        expect(await unreadyBy(acl.user)).toBe('')
      })
    },
  )
})

describe('a policy that holds what is not known to be fresh', () => {
  /** Sends a record, and the dead letter that names its place. Returns the dead letter's key. */
  async function sendFailed(key: string): Promise<string> {
    const [stored] = await producer.send({ topic: guarded.original, messages: [{ key, value: '{}' }] })
    const failed = {
      ...{ topic: guarded.original, partition: 0, offset: BigInt(stored!.baseOffset!), timestamp: BigInt(Date.now()) },
      ...{
        key: Buffer.from(key),
        value: Buffer.from('{}'),
        headers: [],
        group: 'billing',
        error: new Error('rejected'),
      },
    }
    await producer.send({ topic: guarded.dlq, messages: [springDeadLetter(failed)] })
    return key
  }

  const answerOf = async (key: string) => {
    const [row] = await database.sql<{ status: string; is_held: boolean; reason: string | null }[]>`
      select m.status, m.next_retry_at is null as is_held, s.reason from dlq.dlq_messages m left join dlq.dlq_staleness s on s.message_id = m.id
      where m.record_key = ${Buffer.from(key)}`
    return row
  }

  test('holds a message whose topic the retrier may not read, says so, and sends it once it may', async () => {
    const unread = await sendFailed('unread')
    await eventually(async () =>
      expect(await answerOf(unread)).toEqual({ status: 'PENDING', is_held: true, reason: 'not_allowed' }),
    )
    await cluster.allow({ user: 'retrier', type: 'Topic', name: guarded.original, operation: 'Read' })
    await untilResolved(await sendFailed('read'))
    await untilResolved(unread)
  })
})

async function restartService(name: string): Promise<void> {
  await fleet.get(name).stop('SIGTERM', 30_000)
  await start(name as 'ingester' | 'retrier')
}
