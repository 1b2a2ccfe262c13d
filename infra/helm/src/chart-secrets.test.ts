// Who gets which secret, and who reaches whom.

import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { expect, test } from 'vitest'
import type { Manifest } from './render.ts'
import { configOf, container, describeChart, envOf, find, names, rendered, valueSets } from './rendered-chart.ts'

/** The API's, the ingester's, the retrier's and that of the migrations. */
const podsOf = (manifests: Manifest[]) =>
  [
    find(manifests, 'Deployment', 'dlq-manager'),
    find(manifests, 'Deployment', 'dlq-manager-ingester'),
    find(manifests, 'Deployment', 'dlq-manager-retrier'),
    find(manifests, 'Job', 'dlq-manager-migrate'),
  ] as const

const secretsOf = (manifest: Manifest) =>
  manifest.spec.template.spec.volumes.flatMap(
    ({ secret }: { secret?: { secretName: string } }) => secret?.secretName ?? [],
  )

describeChart('the chart’s secrets and networks', () => {
  test("only services that talk to Kafka see Kafka's secrets, and the API may not reach Kafka", () => {
    for (const name of ['kafka-secured', 'vault-dynamic']) {
      const manifests = rendered(name)
      for (const component of ['ingester', 'retrier'])
        expect(envOf(find(manifests, 'Deployment', `dlq-manager-${component}`))).toHaveProperty(
          'DLQ_KAFKA_SASL_PASSWORD_FILE',
        )
      expect(JSON.stringify(find(manifests, 'Deployment', 'dlq-manager'))).not.toMatch(/kafka/i)
      expect(JSON.stringify(find(manifests, 'Job', 'dlq-manager-migrate'))).not.toMatch(/kafka/i)
    }
    const ports = (name: string) =>
      find(rendered('kafka-secured'), 'NetworkPolicy', name).spec.egress.flatMap((rule: Manifest) =>
        rule.ports.map(({ port }: { port: number }) => port),
      )
    expect(ports('dlq-manager')).toEqual([53, 53, 5432])
    expect(ports('dlq-manager-migrate')).toEqual([53, 53, 5432])
    expect(ports('dlq-manager-retrier')).toEqual([53, 53, 5432, 9093, 9094])
  })

  test('each service has its own logins where its section names them, and only the migrations have the owner’s', () => {
    const manifests = rendered('logins')
    const [api, ingester, retrier, job] = podsOf(manifests)
    expect(envOf(api)).toMatchObject({ DLQ_DATABASE_USER: 'dlq_api_login' })
    expect(envOf(ingester)).toMatchObject({
      DLQ_DATABASE_USER: 'dlq_ingester_login',
      DLQ_DATABASE_PASSWORD_FILE: '/etc/dlq-manager/database/database-password',
      DLQ_KAFKA_SASL_USERNAME_FILE: '/etc/dlq-manager/kafka/kafka-username',
    })
    expect(envOf(retrier)).toMatchObject({ DLQ_DATABASE_USER_FILE: '/etc/dlq-manager/database/username' })
    expect(envOf(retrier)).not.toHaveProperty('DLQ_DATABASE_USER')
    expect(envOf(job)).toMatchObject({ DLQ_DATABASE_USER: 'dlq_owner' })
    expect([api, ingester, retrier, job].map(secretsOf)).toEqual([
      ['dlq-api'],
      ['dlq-ingester', 'dlq-ingester'],
      ['dlq-retrier', 'dlq-retrier'],
      ['dlq-owner'],
    ])
    for (const each of [api, ingester, retrier]) expect(JSON.stringify(each)).not.toContain('dlq-owner')
  })

  test('by default connections to PostgreSQL and Kafka are encrypted, and the server is verified', () => {
    const { config } = loadConfig({ yaml: configOf(rendered('defaults')), env: {}, needs: [] })
    expect(config.database.ssl_mode).toBe('verify-full')
    expect(config.kafka.security_protocol).toBe('SSL')
    expect(config.kafka.tls.insecure_skip_verify).toBe(false)
  })

  test('by default no pod reaches the internet', () => {
    const policies = rendered('defaults').filter(({ kind }) => kind === 'NetworkPolicy')
    expect(policies).toHaveLength(4)
    const isPrivate = (cidr: string) => /^(10|172\.16|192\.168|100\.64|169\.254)\.|^fc00:/.test(cidr)
    for (const { spec } of policies)
      for (const { to } of spec.egress) {
        expect(to.length).toBeGreaterThan(0)
        for (const peer of to) expect('namespaceSelector' in peer || isPrivate(peer.ipBlock.cidr)).toBe(true)
      }
  })

  test("certificates of Kafka and of a company's own authority are mounted where the variables say", () => {
    const retrier = find(rendered('kafka-secured'), 'Deployment', 'dlq-manager-retrier')
    expect(envOf(retrier)).toMatchObject({
      DLQ_KAFKA_TLS_CA_FILE: '/etc/dlq-manager/kafka-tls/ca.crt',
      DLQ_KAFKA_TLS_KEY_FILE: '/etc/dlq-manager/kafka-tls/tls.key',
      NODE_EXTRA_CA_CERTS: '/etc/dlq-manager/ca/ca.crt',
    })
    const folders = container(retrier).volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
    for (const file of Object.values(envOf(retrier)).filter((value) => value.startsWith('/etc/')))
      expect(folders).toContain(dirname(file))
  })

  test('each service shows its own certificate, and the migrations that of the owner', () => {
    const manifests = rendered('certificates')
    const pods = podsOf(manifests)
    const [api, , retrier] = pods
    expect(pods.map(secretsOf)).toEqual([
      ['dlq-api-tls'],
      ['dlq-ingester-tls', 'dlq-ingester-tls'],
      ['dlq-retrier-tls', 'dlq-retrier-tls'],
      ['dlq-owner-tls'],
    ])
    const users = pods.map((each) => envOf(each).DLQ_DATABASE_USER)
    expect(users).toEqual(['dlq_api', 'dlq_ingester', 'dlq_retrier', 'dlq_owner'])
    expect(envOf(retrier)).toMatchObject({
      DLQ_DATABASE_SSL_CA_FILE: '/etc/dlq-manager/database-tls/issuer.crt',
      DLQ_DATABASE_SSL_CERT_FILE: '/etc/dlq-manager/database-tls/tls.crt',
      DLQ_DATABASE_SSL_KEY_FILE: '/etc/dlq-manager/database-tls/tls.key',
      DLQ_KAFKA_TLS_CA_FILE: '/etc/dlq-manager/kafka-tls/ca.crt',
      DLQ_KAFKA_TLS_CERT_FILE: '/etc/dlq-manager/kafka-tls/tls.crt',
    })
    expect(envOf(api)).not.toHaveProperty('DLQ_KAFKA_TLS_CA_FILE')
  })

  test('a login that Vault rotates is two files, and needs no restart', () => {
    const manifests = rendered('vault-dynamic')
    const retrier = find(manifests, 'Deployment', 'dlq-manager-retrier')
    expect(envOf(retrier)).toMatchObject({
      DLQ_DATABASE_USER_FILE: '/vault/secrets/db-user',
      DLQ_DATABASE_PASSWORD_FILE: '/vault/secrets/db-password',
      DLQ_KAFKA_SASL_USERNAME_FILE: '/vault/secrets/kafka-user',
    })
    const { annotations } = retrier.spec.template.metadata
    expect(annotations['vault.hashicorp.com/agent-inject-template-db-user']).toContain('index .Data "username"')
    expect(annotations).not.toHaveProperty(['vault.hashicorp.com/agent-pre-populate-only'])
    const job = find(manifests, 'Job', 'dlq-manager-migrate').spec.template.metadata.annotations
    expect(job['vault.hashicorp.com/agent-pre-populate-only']).toBe('true')
  })

  test('the login that only reads is for the API’s lists alone', () => {
    const manifests = rendered('vault-dynamic')
    expect(envOf(find(manifests, 'Deployment', 'dlq-manager'))).toMatchObject({
      DLQ_DATABASE_READ_USER_FILE: '/vault/secrets/db-read-user',
      DLQ_DATABASE_READ_PASSWORD_FILE: '/vault/secrets/db-read-password',
      DLQ_DATABASE_USER_FILE: '/vault/secrets/db-user',
    })
    for (const name of ['dlq-manager-ingester', 'dlq-manager-retrier'])
      expect(JSON.stringify(find(manifests, 'Deployment', name))).not.toMatch(/db-read|dlq-manager-ro/)
    expect(JSON.stringify(find(manifests, 'Job', 'dlq-manager-migrate'))).not.toMatch(/db-read|dlq-manager-ro/)
  })

  test('values without tokens generate one, whose hash the API knows; values with tokens generate none', () => {
    const manifests = rendered('defaults')
    const { token } = find(manifests, 'Secret', 'dlq-manager-token').stringData
    expect(token).toMatch(/^[A-Za-z0-9]{43}$/)
    expect(loadConfig({ yaml: configOf(manifests), env: {}, needs: [] }).config.auth.tokens).toEqual([
      {
        ...{ name: 'helm', role: 'sys_admin', sha256: createHash('sha256').update(token).digest('hex') },
        ...{ payloads: 'masked', exports: true },
      },
    ])
    for (const name of ['production', 'ingress']) expect(names(rendered(name), 'Secret')).toEqual([])
  })

  test('what needs no token is not exposed to the outside, but for the console', () => {
    const { paths } = find(rendered('ingress'), 'Ingress', 'dlq-manager').spec.rules[0].http
    expect(paths.map(({ path, pathType }: { path: string; pathType: string }) => `${pathType} ${path}`)).toEqual([
      'Prefix /api',
      'Prefix /openapi.json',
      'Prefix /dlq-status',
      'Prefix /channel',
      'Prefix /console',
      'Exact /',
    ])
  })

  test('the API alone has the key of sessions and the secret of signing in', () => {
    const manifests = rendered('ingress')
    const podOf = (name: string) => find(manifests, 'Deployment', name).spec.template.spec
    const { containers, volumes } = podOf('dlq-manager')
    expect(containers[0].env).toEqual(
      expect.arrayContaining([
        { name: 'DLQ_AUTH_SESSION_KEY_FILE', value: '/etc/dlq-manager/auth/session-key' },
        { name: 'DLQ_AUTH_OIDC_CLIENT_SECRET_FILE', value: '/etc/dlq-manager/auth/client-secret' },
      ]),
    )
    expect(volumes).toContainEqual({ name: 'auth', secret: { secretName: 'dlq-console' } })
    expect(JSON.stringify(podOf('dlq-manager-retrier'))).not.toContain('dlq-console')
  })

  test('only the API can reach the identity provider', () => {
    const manifests = rendered('ingress')
    const egress = (name: string) => JSON.stringify(find(manifests, 'NetworkPolicy', name).spec.egress)
    expect(egress('dlq-manager')).toContain('"port":8443')
    // The issuer, whose token endpoint signing in asks.
    expect(egress('dlq-manager')).toContain('"port":443')
    expect(egress('dlq-manager-retrier')).not.toContain('8443')
  })

  test('a namespace with restricted pod security admits every pod', () => {
    const manifests = valueSets.flatMap((name) => rendered(name))
    const pods = manifests.flatMap(({ kind, spec }) => {
      if (kind === 'Pod') return [spec]
      if (kind === 'CronJob') return [spec.jobTemplate.spec.template.spec]
      return kind === 'Deployment' || kind === 'Job' ? [spec.template.spec] : []
    })
    expect(pods.length).toBeGreaterThan(50)
    for (const pod of pods) {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(pod.securityContext.runAsUser).toBeGreaterThan(0)
      expect(pod.volumes?.some((volume: object) => 'hostPath' in volume) ?? false).toBe(false)
      for (const each of pod.containers) {
        expect(each.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(each.resources.limits.memory).toBeTruthy()
      }
    }
  })
})
