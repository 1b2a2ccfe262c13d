// A broker that knows who asks (SASL/PLAIN) and allows only what its ACLs say (Kafka's own StandardAuthorizer). The
// plain listener is for the test itself, which may do everything.

import kafkajs, { type AclEntry, type Admin, type Kafka } from 'kafkajs'
import { eventually } from '../eventually.ts'
import { freePort } from '../process/free-port.ts'
import type { Reaper } from '../process/reaper.ts'
import { startKafka } from './kafka.ts'
import { createTestKafka } from './test-kafka.ts'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs

/** One allowed operation. `name` ends with "*" where all names that begin so are meant. */
export type Acl = {
  user: string
  type: 'Topic' | 'Group' | 'TransactionalId' | 'Cluster'
  name: string
  operation: string
}

export type AuthorizedKafka = {
  /** For the test, which may do everything. */
  kafka: Kafka
  admin: Admin
  /** Where users log in by name and password. */
  securedBrokers: string[]
  /** The environment of a service that is the user. */
  envOf(user: string): Record<string, string>
  /** A client that is the user. */
  clientOf(user: string): Kafka
  allow(acl: Acl): Promise<void>
  revoke(acl: Acl): Promise<void>
}

const passwordOf = (user: string) => `${user}-secret`

/** Starts it with nothing allowed. Whoever starts it disconnects `admin`. */
export async function startAuthorizedKafka({
  dataDir,
  reaper,
  users,
}: {
  dataDir: string
  reaper: Reaper
  users: readonly string[]
}): Promise<AuthorizedKafka> {
  const port = await freePort()
  const logins = users.map((user) => ` user_${user}="${passwordOf(user)}"`).join('')
  const { brokers } = await startKafka({
    dataDir,
    reaper,
    extras: {
      listeners: [{ protocol: 'SASL_PLAINTEXT', port }],
      settings: {
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        // Who comes by the plain listener: the test, and the broker itself.
        'super.users': 'User:ANONYMOUS',
        'sasl.enabled.mechanisms': 'PLAIN',
        'listener.name.sasl_plaintext.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required${logins};`,
        'auto.create.topics.enable': 'false',
      },
    },
  })
  const securedBrokers = [`127.0.0.1:${port}`]
  const kafka = createTestKafka(brokers)
  const admin = kafka.admin()
  await admin.connect()
  const untilInForce = (entry: AclEntry, count: number) =>
    eventually(async () => {
      const { resources } = await admin.describeAcls({ ...entry })
      if (resources.length !== count) throw new Error('the broker acts by the former ACLs')
    })
  return {
    kafka,
    admin,
    securedBrokers,
    envOf: (user) => ({
      KAFKA_BROKERS: securedBrokers.join(),
      DLQ_KAFKA_SECURITY_PROTOCOL: 'SASL_PLAINTEXT',
      DLQ_KAFKA_SASL_MECHANISM: 'PLAIN',
      DLQ_KAFKA_SASL_USERNAME: user,
      DLQ_KAFKA_SASL_PASSWORD: passwordOf(user),
    }),
    clientOf: (user) =>
      new kafkajs.Kafka({
        clientId: `test-${user}`,
        brokers: securedBrokers,
        sasl: { mechanism: 'plain', username: user, password: passwordOf(user) },
        logLevel: kafkajs.logLevel.NOTHING,
        retry: { retries: 1 },
      }),
    async allow(acl) {
      const entry = entryOf(acl)
      await admin.createAcls({ acl: [entry] })
      await untilInForce(entry, 1)
    },
    async revoke(acl) {
      const entry = entryOf(acl)
      await admin.deleteAcls({ filters: [entry] })
      await untilInForce(entry, 0)
    },
  }
}

const typesOf = {
  Topic: AclResourceTypes.TOPIC,
  Group: AclResourceTypes.GROUP,
  TransactionalId: AclResourceTypes.TRANSACTIONAL_ID,
  Cluster: AclResourceTypes.CLUSTER,
}

function entryOf({ user, type, name, operation }: Acl): AclEntry {
  const isPrefix = name.endsWith('*')
  // "DescribeConfigs" is DESCRIBE_CONFIGS there.
  const key = operation.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() as keyof typeof AclOperationTypes
  if (AclOperationTypes[key] === undefined) throw new Error(`Kafka has no operation ${operation}`)
  return {
    resourceType: typesOf[type],
    resourceName: isPrefix ? name.slice(0, -1) : name,
    resourcePatternType: isPrefix ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    operation: AclOperationTypes[key],
    principal: `User:${user}`,
    host: '*',
    permissionType: AclPermissionTypes.ALLOW,
  }
}
