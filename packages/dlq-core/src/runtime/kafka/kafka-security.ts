// How a service and Kafka authenticate each other: turns the sections kafka.sasl and kafka.tls into kafkajs's
// options. Contradictory settings are a fault at the start, because a broker that refuses a client does not
// say why. No message here repeats a secret.

import type { KafkaConfig as ClientConfig, SASLOptions } from 'kafkajs'
import type { Config } from '../config/config-schema.ts'
import type { Log } from '../log.ts'
import { followTlsFiles, readOrFault, type TlsFiles, tlsFileFaults } from '../tls/tls-files.ts'
import { createTokenSource, readTokenFile } from './kafka-oauth.ts'

type Kafka = Config['kafka']
type Sasl = Kafka['sasl']
type Tls = Kafka['tls']

/**
 * The options `ssl` and `sasl` of a kafkajs client. The settings have no faults. Each new connection has the certificates
 * that the files hold then, and the user and password that `latest` gives.
 */
export function kafkaSecurity(
  kafka: Kafka,
  { log, latest = () => kafka }: { log: Log; latest?: (() => Kafka) | undefined },
): Pick<ClientConfig, 'ssl' | 'sasl'> {
  const sasl = usesSasl(kafka) ? { sasl: saslOptions(kafka.sasl, () => latest().sasl) } : {}
  if (!usesTls(kafka)) return { ssl: false, ...sasl }
  const { server_name, insecure_skip_verify } = kafka.tls
  const serverName = server_name === undefined ? {} : { servername: server_name }
  const options = { ...serverName, rejectUnauthorized: !insecure_skip_verify }
  return { ssl: followTlsFiles(options, () => tlsFiles(latest().tls), { of: 'Kafka', log }), ...sasl }
}

function saslOptions({ mechanism, ...oauth }: Sasl, latest: () => Sasl): SASLOptions {
  // Read by kafkajs each time it authenticates.
  const withLogin = <Mechanism extends string>(mechanism: Mechanism) => ({
    mechanism,
    get username() {
      return latest().username ?? ''
    },
    get password() {
      return latest().password ?? ''
    },
  })
  switch (mechanism) {
    case 'PLAIN':
      return withLogin('plain')
    case 'SCRAM-SHA-256':
      return withLogin('scram-sha-256')
    case 'SCRAM-SHA-512':
      return withLogin('scram-sha-512')
    default: {
      const { token_file, token_url: url = '', client_id: clientId = '', scope } = oauth
      const clientSecret = () => latest().client_secret ?? ''
      const source =
        token_file === undefined
          ? createTokenSource({ url, clientId, clientSecret, scope })
          : () => readTokenFile(token_file)
      return { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: await source() }) }
    }
  }
}

/** The faults of security_protocol, sasl and tls together, each with its path; reads their files. */
export function kafkaSecurityFaults(kafka: Kafka): string[] {
  return [...saslFaults(kafka), ...tlsFaults(kafka)]
}

/** Allowed settings that deserve a warning. */
export function kafkaSecurityWarnings({ tls, sasl, security_protocol }: Kafka): string[] {
  const warnings: string[] = []
  if (tls.insecure_skip_verify) warnings.push('kafka.tls.insecure_skip_verify: anyone may pose as the broker')
  if (security_protocol === 'SASL_PLAINTEXT' && (sasl.mechanism === 'PLAIN' || sasl.mechanism === 'OAUTHBEARER'))
    warnings.push(`kafka.security_protocol: SASL_PLAINTEXT sends the credentials of ${sasl.mechanism} unencrypted`)
  return warnings
}

const passwordKeys = ['username', 'password'] as const
const clientKeys = ['token_url', 'client_id', 'client_secret'] as const
const oauthKeys = [...clientKeys, 'scope', 'token_file'] as const

function saslFaults(kafka: Kafka): string[] {
  const { sasl, security_protocol } = kafka
  const { mechanism } = sasl
  if (!usesSasl(kafka)) {
    if (!isGiven(sasl)) return []
    const remedy = security_protocol === 'SSL' ? 'SASL_SSL' : 'SASL_SSL or SASL_PLAINTEXT'
    return [`kafka.sasl: is given, but kafka.security_protocol is ${security_protocol}; make it ${remedy}`]
  }
  if (mechanism === undefined) return [`kafka.sasl.mechanism: missing; kafka.security_protocol is ${security_protocol}`]
  const [wanted, foreign] = mechanism === 'OAUTHBEARER' ? [[], passwordKeys] : [passwordKeys, oauthKeys]
  return [
    ...wanted
      .filter((key) => sasl[key] === undefined)
      .map((key) => `kafka.sasl.${key}: missing; ${mechanism} needs it`),
    ...foreign
      .filter((key) => sasl[key] !== undefined)
      .map((key) => `kafka.sasl.${key}: has no effect with ${mechanism}`),
    ...(mechanism === 'OAUTHBEARER' ? oauthFaults(sasl) : []),
  ]
}

function oauthFaults(sasl: Sasl): string[] {
  const { token_file, token_url } = sasl
  if (token_file === undefined && token_url === undefined)
    return ['kafka.sasl.token_url: missing; OAUTHBEARER needs it, or kafka.sasl.token_file']
  if (token_file === undefined) {
    const missing = clientKeys.filter((key) => sasl[key] === undefined)
    return missing.map((key) => `kafka.sasl.${key}: missing; kafka.sasl.token_url needs it`)
  }
  const faults: string[] = []
  for (const key of [...clientKeys, 'scope'] as const)
    if (sasl[key] !== undefined) faults.push(`kafka.sasl.${key}: has no effect beside kafka.sasl.token_file`)
  readOrFault('kafka.sasl.token_file', token_file, faults)
  return faults
}

function tlsFaults(kafka: Kafka): string[] {
  const { tls, security_protocol } = kafka
  const { insecure_skip_verify, ...given } = tls
  if (!usesTls(kafka)) {
    if (!insecure_skip_verify && !isGiven(given)) return []
    return [`kafka.tls: is given, but kafka.security_protocol is ${security_protocol}, which has no TLS`]
  }
  const faults =
    tls.key_file === undefined && tls.key_passphrase !== undefined
      ? ['kafka.tls.key_file: missing; kafka.tls.key_passphrase is for it']
      : []
  return [...faults, ...tlsFileFaults(tlsFiles(tls), (kind) => `kafka.tls.${kind}_file`)]
}

function tlsFiles({ ca_file, cert_file, key_file, key_passphrase }: Tls): TlsFiles {
  return { ca: ca_file, cert: cert_file, key: key_file, passphrase: key_passphrase }
}

function usesSasl({ security_protocol }: Kafka): boolean {
  return security_protocol.startsWith('SASL_')
}

function usesTls({ security_protocol }: Kafka): boolean {
  return security_protocol.endsWith('SSL')
}

function isGiven(section: object): boolean {
  return Object.values(section).some((value) => value !== undefined)
}
