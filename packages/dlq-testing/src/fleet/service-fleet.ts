// The three services as processes, on one database and one set of DLQ topics, for tests that start, kill and drain them.
// A restarted service keeps its port, like one behind a load balancer.
import { type ServiceName, type ServiceOptions, type ServiceProcess, startService } from './service-process.ts'

/** The settings of every service of the fleet. */
export type FleetOptions = Pick<ServiceOptions, 'databaseUrl' | 'kafkaBrokers' | 'reaper' | 'command'> & {
  /** Globs of the DLQ topics that its ingesters see. */
  topicPattern: string
  consumerGroup: string
  /** A folder; each process appends to a file of its name there. */
  logDir: string
  env?: NodeJS.ProcessEnv | undefined
}

/** An HTTP answer, read to its end. */
export type FleetAnswer = { status: number; text: string; json(): unknown }

export type Fleet = {
  /**
   * Starts a service; `instance` names it where there is more than one of its kind, `env` holds settings
   * for this start only. Does not wait until it is ready.
   */
  start(name: ServiceName, instance?: string, env?: NodeJS.ProcessEnv): Promise<ServiceProcess>
  /** Starts one of each and waits until all are ready. */
  startAll(): Promise<void>
  /** The running, or last, process of that name. */
  get(instance: string): ServiceProcess
  /** A request to the API. */
  request(path: string, init?: RequestInit): Promise<FleetAnswer>
  /** SIGTERM to all that still run; SIGKILL after 30 s. */
  stop(): Promise<void>
}

const settings = {
  DLQ_KAFKA_TOPIC_REFRESH_INTERVAL: '500ms',
  DLQ_RETRY_POLL_INTERVAL: '250ms',
  // A busy machine may need longer than the defaults.
  DLQ_RETRY_WAIT: '60s',
  DLQ_APP_SHUTDOWN_TIMEOUT: '60s',
  NODE_NO_WARNINGS: '1',
}
const stopMs = 30_000
const requestMs = 90_000

/** Describes a fleet; starts no service. */
export function createFleet(options: FleetOptions): Fleet {
  const { topicPattern, consumerGroup, logDir, env, ...servers } = options
  const processes = new Map<string, ServiceProcess>()

  const get = (instance: string) => {
    const process = processes.get(instance)
    if (!process) throw new Error(`${instance} was never started`)
    return process
  }
  const start = async (name: ServiceName, instance: string = name, ofStart: NodeJS.ProcessEnv = {}) => {
    const started = await startService({
      ...servers,
      name,
      port: processes.get(instance)?.port,
      logFile: `${logDir}/${instance}.log`,
      env: {
        ...settings,
        DLQ_KAFKA_CONSUMER_GROUP: consumerGroup,
        DLQ_KAFKA_DLQ_TOPIC_PATTERN: topicPattern,
        // Fleets on one broker would fence each other, and take each other's batches for their own.
        DLQ_RETRY_TRANSACTIONAL_ID_PREFIX: `${consumerGroup}-retrier`,
        ...env,
        ...ofStart,
      },
    })
    processes.set(instance, started)
    return started
  }
  return {
    start,
    async startAll() {
      const started = await Promise.all([start('ingester'), start('retrier'), start('api')])
      await Promise.all(started.map((service) => service.ready()))
    },
    get,
    async request(path, init) {
      const response = await fetch(`${get('api').url}${path}`, { signal: AbortSignal.timeout(requestMs), ...init })
      const text = await response.text()
      return { status: response.status, text, json: () => JSON.parse(text) as unknown }
    },
    async stop() {
      await Promise.all([...processes.values()].map((service) => service.stop('SIGTERM', stopMs)))
    },
  }
}
