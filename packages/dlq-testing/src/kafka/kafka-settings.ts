// The broker's settings, the same for a broker of ours and for one in a container:
// one KRaft node that is controller too, quick to start and small in memory.

/** The version that tests, demo and benchmarks use, as infra/compose.yaml does. */
export const defaultKafkaVersion = '4.2.1'
/** Of the brokers that are started here: another one where DLQ_TEST_KAFKA names it, such as 3.9.1. */
export const kafkaVersion = process.env.DLQ_TEST_KAFKA || defaultKafkaVersion

/** A further way to the broker, beside the plain one; its security needs further settings. */
export type KafkaListener = { protocol: 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'; port: number }

/** Names and values of server.properties, apart from log.dirs. A listener is named after its protocol. */
export function kafkaSettings({
  port,
  controllerPort,
  bindAddress,
  listeners = [],
}: {
  port: number
  controllerPort: number
  bindAddress: string
  listeners?: readonly KafkaListener[]
}): Record<string, string> {
  const open = [{ protocol: 'PLAINTEXT', port }, ...listeners]
  const listAt = (address: string) =>
    open.map((listener) => `${listener.protocol}://${address}:${listener.port}`).join()
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `${listAt(bindAddress)},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': listAt('127.0.0.1'),
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': [
      'CONTROLLER:PLAINTEXT',
      ...open.map(({ protocol }) => `${protocol}:${protocol}`),
    ].join(),
    'auto.create.topics.enable': 'true',
    'num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    // One broker: every internal topic has one replica, and few partitions to load.
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '4',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '1',
    // Small files: each partition would otherwise reserve two indexes of 10 MiB.
    'log.segment.bytes': String(64 * 1024 * 1024),
    'log.index.size.max.bytes': String(1024 * 1024),
    'log.segment.delete.delay.ms': '1000',
    // The cleaner takes its buffer of 128 MiB at once.
    'log.cleaner.dedupe.buffer.size': String(8 * 1024 * 1024),
    // Tests that wait for compaction would wait for its 15 s.
    'log.cleaner.backoff.ms': '1000',
    // A broker killed by SIGKILL may register again only when its old session is over (9 s by default).
    'broker.session.timeout.ms': '4000',
    'broker.heartbeat.interval.ms': '1000',
    'num.network.threads': '2',
    'num.io.threads': '4',
    'background.threads': '2',
  }
}

/** Java reads the names of files by the locale. Where none is set (a cron job, some images), they may have ASCII letters only. */
export function javaEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, LC_ALL: env.LC_ALL || env.LC_CTYPE || env.LANG || 'C.UTF-8' }
}

export const jvmFlags = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
