// How a service and Kafka authenticate each other: turns the sections kafka.sasl and kafka.tls into kafkajs's
// options. Contradictory settings are a fault at the start, because a broker that refuses a client does not
// say why. No message here repeats a secret.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { KafkaConfig as ClientConfig, SASLOptions } from 'kafkajs'
import type { Config } from '../config/config-schema.ts'
import { createTokenSource, readTokenFile } from './kafka-oauth.ts'

type Kafka = Config['kafka']
type Sasl = Kafka['sasl']
type Tls = Kafka['tls']
type SecureOptions = { ca?: string; cert?: string; key?: string; passphrase?: string }
type ReadSetting = (setting: string, path: string) => string

/**
 * The options `ssl` and `sasl` of a kafkajs client. The settings have no faults; reads the files they name.
 * `latest` gives the user and password of each new connection.
 */
export function kafkaSecurity(kafka: Kafka, latest = () => kafka): Pick<ClientConfig, 'ssl' | 'sasl'> {
  const sasl = usesSasl(kafka) ? { sasl: saslOptions(kafka.sasl, () => latest().sasl) } : {}
  if (!usesTls(kafka)) return { ssl: false, ...sasl }
  const { server_name, insecure_skip_verify } = kafka.tls
  const serverName = server_name === undefined ? {} : { servername: server_name }
  const files = readTlsFiles(kafka.tls, (_setting, path) => readFileSync(path, 'utf8'))
  return { ssl: { ...files, ...serverName, rejectUnauthorized: !insecure_skip_verify }, ...sasl }
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
      const { token_file, token_url = '', client_id = '', client_secret = '', scope } = oauth
      const source =
        token_file === undefined
          ? createTokenSource({ url: token_url, clientId: client_id, clientSecret: client_secret, scope })
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
  const faults: string[] = []
  const { cert_file, key_file, key_passphrase } = tls
  if (cert_file !== undefined && key_file === undefined)
    faults.push('kafka.tls.key_file: missing; kafka.tls.cert_file needs its key')
  if (cert_file === undefined && key_file !== undefined)
    faults.push('kafka.tls.cert_file: missing; kafka.tls.key_file needs its certificate')
  if (key_file === undefined && key_passphrase !== undefined)
    faults.push('kafka.tls.key_file: missing; kafka.tls.key_passphrase is for it')
  const { ca, ...own } = readTlsFiles(tls, (setting, path) => readOrFault(setting, path, faults) ?? '')
  if (faults.length > 0) return faults
  if (ca !== undefined) faults.push(...caFaults(ca))
  try {
    createSecureContext(own)
  } catch (error) {
    // OpenSSL's words: no PEM, a key of another certificate, a wrong passphrase.
    faults.push(`kafka.tls.cert_file: cannot be used with its key: ${(error as Error).message}`)
  }
  return faults
}

/** Node ignores a CA file without a certificate, and then trusts no server. */
function caFaults(ca: string): string[] {
  const certificates = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (certificates === null) return ['kafka.tls.ca_file: holds no certificate in PEM']
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
    return []
  } catch (error) {
    return [`kafka.tls.ca_file: holds a certificate that cannot be read: ${(error as Error).message}`]
  }
}

function readTlsFiles({ ca_file, cert_file, key_file, key_passphrase }: Tls, read: ReadSetting): SecureOptions {
  return {
    ...(ca_file === undefined ? {} : { ca: read('kafka.tls.ca_file', ca_file) }),
    ...(cert_file === undefined ? {} : { cert: read('kafka.tls.cert_file', cert_file) }),
    ...(key_file === undefined ? {} : { key: read('kafka.tls.key_file', key_file) }),
    ...(key_passphrase === undefined ? {} : { passphrase: key_passphrase }),
  }
}

function readOrFault(setting: string, path: string, faults: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    faults.push(`${setting}: cannot read the file ${path}: ${(error as Error).message}`)
    return undefined
  }
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
