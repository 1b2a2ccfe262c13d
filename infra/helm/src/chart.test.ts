// The templates, rendered by helm itself. Where there is none this is left out: `npm run chart` builds one.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadConfig, type Need } from 'dlq-core/runtime/config/config.ts'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Manifest, render, renderText, type Values } from './render.ts'
import { findHelm, root } from './tools.ts'

const helm = findHelm()
if (!helm) console.log('no helm here, so the templates are not tested: `npm run chart` builds one and tests them')

const valueSets = readdirSync(join(root, 'infra/helm/values')).map((name) => name.replace('.yaml', ''))

const renderedBefore = new Map<string, Manifest[]>()

function rendered(name: string, set: string[] = []): Manifest[] {
  const key = [name, ...set].join()
  const manifests = renderedBefore.get(key) ?? render(helm!, { files: [valueFile(name)], set })
  renderedBefore.set(key, manifests)
  return manifests
}

function valueFile(name: string): string {
  return join(root, 'infra/helm/values', `${name}.yaml`)
}

function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  if (!found)
    throw new Error(`no ${kind} ${name} among ${manifests.map((each) => `${each.kind} ${each.metadata.name}`)}`)
  return found
}

function names(manifests: readonly Manifest[], kind: string): string[] {
  return manifests.filter((manifest) => manifest.kind === kind).map(({ metadata }) => metadata.name)
}

function container(manifest: Manifest) {
  const template = manifest.kind === 'CronJob' ? manifest.spec.jobTemplate.spec.template : manifest.spec.template
  return template.spec.containers[0]
}

function envOf(manifest: Manifest): Record<string, string> {
  return Object.fromEntries(container(manifest).env.map(({ name, value }: Record<string, string>) => [name, value]))
}

/** They are read at once, and there are none here. */
function withoutCertificates(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('DLQ_KAFKA_TLS_')))
}

/** As the mains have it. */
const needs: Record<string, Need[]> = {
  api: ['database', 'auth-beyond-loopback'],
  ingester: ['database', 'kafka'],
  retrier: ['database', 'kafka-if-set'],
}

function configOf(manifests: readonly Manifest[], name = 'dlq-manager'): string {
  return find(manifests, 'ConfigMap', name).data['config.yaml']
}

function refusal(values: Values): string {
  try {
    renderText(helm!, values)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('helm accepted these values')
}

describe.skipIf(!helm)('the chart', () => {
  test.each(valueSets)('the services accept the configuration that it renders from the values "%s"', (name) => {
    const manifests = rendered(name)
    const yaml = configOf(manifests, name === 'plain' ? 'dead-letters' : 'dlq-manager')
    for (const manifest of manifests.filter(({ kind }) => kind === 'Deployment')) {
      const { config, warnings } = loadConfig({
        yaml,
        env: withoutCertificates(envOf(manifest)),
        needs: needs[manifest.metadata.labels['app.kubernetes.io/component']!]!,
        readSecret: (path) =>
          /url$/.test(path) ? 'postgres://app@db/dlq' : 'a-secret-of-more-than-thirty-two-characters',
      })
      expect(warnings).toEqual([])
      expect(config.server).toMatchObject({ host: '0.0.0.0', port: 8080 })
    }
  })

  test('the values of the specification reach the configuration unchanged', () => {
    const manifests = rendered('specification')
    expect(names(manifests, 'Deployment')).toEqual(['dlq-manager', 'dlq-manager-ingester', 'dlq-manager-retrier'])
    const api = find(manifests, 'Deployment', 'dlq-manager')
    expect(container(api).image).toBe('harbor.internal.example.com/k1s0-system/dlq-manager:0.1.0')
    expect(container(api).ports).toEqual([{ name: 'http', containerPort: 8080, protocol: 'TCP' }])
    expect(api.spec).not.toHaveProperty('replicas')
    expect(find(manifests, 'Service', 'dlq-manager').spec).toMatchObject({ type: 'ClusterIP', ports: [{ port: 80 }] })
    expect(find(manifests, 'HorizontalPodAutoscaler', 'dlq-manager').spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 5,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 70 } } }],
    })
    expect(envOf(api)).toMatchObject({ DLQ_DATABASE_PASSWORD_FILE: '/vault/secrets/db-password' })
    expect(api.spec.template.metadata.annotations).toMatchObject({
      'vault.hashicorp.com/agent-inject': 'true',
      'vault.hashicorp.com/role': 'system',
      'vault.hashicorp.com/agent-inject-secret-db-password': 'secret/data/k1s0/system/dlq-manager/database',
      'vault.hashicorp.com/agent-inject-file-db-password': 'db-password',
      'vault.hashicorp.com/secret-volume-path-db-password': '/vault/secrets',
      'vault.hashicorp.com/agent-inject-template-db-password':
        '{{- with secret "secret/data/k1s0/system/dlq-manager/database" -}}{{ index .Data.data "password" }}{{- end -}}',
    })
    expect(configOf(manifests)).toContain('kafka-0.messaging.svc.cluster.local:9092')
  })

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
    const secretsOf = (manifest: Manifest) =>
      manifest.spec.template.spec.volumes.flatMap(
        ({ secret }: { secret?: { secretName: string } }) => secret?.secretName ?? [],
      )
    const api = find(manifests, 'Deployment', 'dlq-manager')
    const ingester = find(manifests, 'Deployment', 'dlq-manager-ingester')
    const retrier = find(manifests, 'Deployment', 'dlq-manager-retrier')
    const job = find(manifests, 'Job', 'dlq-manager-migrate')
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

  test('migrations run before anything else of a release, with an account of their own', () => {
    const manifests = rendered('existing-secret')
    const job = find(manifests, 'Job', 'dlq-manager-migrate')
    expect(job.metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '0',
    })
    expect(job.spec.template.spec.serviceAccountName).toBe('dlq-manager-migrate')
    expect(find(manifests, 'ServiceAccount', 'dlq-manager-migrate').metadata.annotations).toMatchObject({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '-10',
    })
    expect(container(job).command).toEqual(['node', 'db/migrate.ts', 'up'])
    expect(envOf(job)).toEqual({
      DLQ_DATABASE_HOST: 'postgres.data.svc',
      DLQ_DATABASE_NAME: 'dlq',
      DLQ_DATABASE_PORT: '5432',
      DLQ_DATABASE_SSL_MODE: 'verify-full',
      DLQ_DATABASE_PASSWORD_FILE: '/etc/dlq-manager/database/password',
      DLQ_DATABASE_USER_FILE: '/etc/dlq-manager/database/username',
    })
    expect(names(rendered('plain'), 'Job')).toEqual([])
  })

  test('a CronJob that archives takes the work from the retriers', () => {
    const manifests = rendered('archive-cronjob')
    const job = find(manifests, 'CronJob', 'dlq-manager-archive')
    expect(job.spec).toMatchObject({ schedule: '30 2 * * *', timeZone: 'Etc/UTC', concurrencyPolicy: 'Forbid' })
    expect(container(job).command).toEqual(['node', 'db/archive.ts', '--retention-days=60', '--batch-size=500'])
    expect(loadConfig({ yaml: configOf(manifests), env: {}, needs: [] }).config.cron.archive).toBe('off')
  })

  test('a CronJob restores the newest backup once a month', () => {
    const manifests = rendered('restore-test')
    const job = find(manifests, 'CronJob', 'dlq-manager-restore-test')
    expect(job.spec).toMatchObject({ schedule: '0 5 1 * *', timeZone: 'Etc/UTC', concurrencyPolicy: 'Forbid' })
    expect(container(job).command).toEqual(['sh', '/scripts/restore-test.sh'])
    expect(envOf(job)).toMatchObject({ PGDATABASE: 'k1s0_dlq', STANZA: 'dlq', MAX_AGE_SECONDS: '43200' })
    const script = readFileSync(join(root, 'infra/helm/dlq-manager/files/scripts/restore-test.sh'), 'utf8')
    expect(find(manifests, 'ConfigMap', 'dlq-manager-restore-test').data['restore-test.sh'].trim()).toBe(script.trim())
    expect(names(rendered('plain'), 'CronJob')).toEqual([])
    expect(refusal({ files: [valueFile('restore-test')], set: ['restoreTest.image='] })).toContain('restoreTest.image')
  })

  test('each service has the resources of its section, or else the common ones', () => {
    const manifests = rendered('each-alone')
    expect(find(manifests, 'Deployment', 'dlq-manager').spec).not.toHaveProperty('replicas')
    expect(find(manifests, 'HorizontalPodAutoscaler', 'dlq-manager').spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 10,
    })
    expect(find(manifests, 'Deployment', 'dlq-manager-ingester').spec.replicas).toBe(6)
    expect(find(manifests, 'Deployment', 'dlq-manager-retrier').spec.replicas).toBe(0)
    expect(names(manifests, 'HorizontalPodAutoscaler')).toEqual(['dlq-manager'])
    expect(names(manifests, 'PodDisruptionBudget')).toEqual(['dlq-manager', 'dlq-manager-ingester'])
    expect(container(find(manifests, 'Deployment', 'dlq-manager-ingester')).resources.limits).toEqual({
      memory: '512Mi',
    })
  })

  test('KEDA scales by lag and by due messages, and replaces the scaling by CPU', () => {
    const manifests = rendered('keda')
    expect(names(manifests, 'HorizontalPodAutoscaler')).toEqual(['dlq-manager'])
    expect(find(manifests, 'ScaledObject', 'dlq-manager-ingester').spec).toMatchObject({
      scaleTargetRef: { name: 'dlq-manager-ingester' },
      maxReplicaCount: 12,
      triggers: [
        {
          type: 'kafka',
          metadata: { consumerGroup: 'dlq-manager.default', lagThreshold: '5000' },
          authenticationRef: { name: 'kafka-login' },
        },
      ],
    })
    expect(find(manifests, 'ScaledObject', 'dlq-manager-retrier').spec.triggers).toMatchObject([
      {
        type: 'postgresql',
        metadata: { host: 'postgres.k1s0-system.svc.cluster.local', userName: 'app', targetQueryValue: '500' },
        authenticationRef: { name: 'dlq-manager-retrier' },
      },
    ])
    expect(find(manifests, 'TriggerAuthentication', 'dlq-manager-retrier').spec.secretTargetRef).toEqual([
      { parameter: 'password', name: 'dlq-database', key: 'password' },
    ])
  })

  test('without Kafka there is no ingester, and no service gets brokers', () => {
    const manifests = rendered('without-kafka')
    expect(names(manifests, 'Deployment')).toEqual(['dlq-manager', 'dlq-manager-retrier'])
    expect(loadConfig({ yaml: configOf(manifests), env: {}, needs: [] }).config.kafka.brokers).toBeUndefined()
    expect(names(manifests, 'NetworkPolicy')).not.toContain('dlq-manager-ingester')
    expect(JSON.stringify(find(manifests, 'NetworkPolicy', 'dlq-manager-retrier'))).not.toContain('9092')
  })

  test('values without tokens generate one, whose hash the API knows; values with tokens generate none', () => {
    const manifests = rendered('defaults')
    const { token } = find(manifests, 'Secret', 'dlq-manager-token').stringData
    expect(token).toMatch(/^[A-Za-z0-9]{43}$/)
    expect(loadConfig({ yaml: configOf(manifests), env: {}, needs: [] }).config.auth.tokens).toEqual([
      { name: 'helm', role: 'sys_admin', sha256: createHash('sha256').update(token).digest('hex') },
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

  test('a change of the configuration changes the pods, another generated token does not', () => {
    const checksum = (set: string[]) =>
      find(rendered('defaults', set), 'Deployment', 'dlq-manager').spec.template.metadata.annotations['checksum/config']
    const again = find(render(helm!, {}), 'Deployment', 'dlq-manager').spec.template.metadata.annotations
    expect(again['checksum/config']).toBe(checksum([]))
    expect(checksum(['config.retry.max_retries=5'])).not.toBe(checksum([]))
  })

  test('one ServiceMonitor covers every pod, and rules and dashboards equal those of this repository', () => {
    const manifests = rendered('monitoring')
    const { selector } = find(manifests, 'ServiceMonitor', 'dlq-manager').spec
    const monitored = manifests.filter(
      ({ kind, metadata }) =>
        kind === 'Service' &&
        Object.entries(selector.matchLabels).every(([key, value]) => metadata.labels[key] === value),
    )
    expect(monitored.map(({ metadata }) => metadata.name)).toEqual([
      'dlq-manager',
      'dlq-manager-ingester',
      'dlq-manager-retrier',
    ])
    expect(find(manifests, 'PrometheusRule', 'dlq-manager').metadata.labels.release).toBe('prometheus')
    const { groups } = parse(readFileSync(join(root, 'infra/prometheus/dlq-manager.rules.yaml'), 'utf8'))
    const shipped = find(manifests, 'PrometheusRule', 'dlq-manager').spec.groups[0].rules
    type Rule = { alert: string; expr: string }
    const others = ({ alert }: Rule) => !['DlqManyOpen', 'DlqManyDead', 'DlqIngestBehind'].includes(alert)
    expect(shipped.filter(others)).toEqual(groups[0].rules.filter(others))
    // The thresholds of the values, of which 0 takes the alert away.
    expect(
      shipped.filter((rule: Rule) => !others(rule)).map(({ alert, expr }: Rule) => [alert, expr.slice(-7)]),
    ).toEqual([
      ['DlqManyOpen', ') > 500'],
      ['DlqIngestBehind', '> 50000'],
    ])
    const dashboards = find(manifests, 'ConfigMap', 'dlq-manager-dashboards')
    expect(dashboards.metadata.labels.grafana_dashboard).toBe('1')
    expect(dashboards.data['dlq-manager.json']).toBe(readFileSync(join(root, 'infra/grafana/dlq-manager.json'), 'utf8'))
  })

  test.each<[string, Values, RegExp]>([
    ['a key that is mistyped', { set: ['replicaCounts=3'] }, /additional properties 'replicaCounts' not allowed/],
    ['a key of a section', { set: ['ingester.replica=3'] }, /\/ingester.*additional properties 'replica' not allowed/s],
    ['a key of config.yaml', { set: ['config.retry.max_retrys=3'] }, /\/config\/retry.*'max_retrys' not allowed/s],
    ['a number that is text', { set: ['service.port=http'] }, /\/service\/port.*got string, want integer/s],
    [
      'gRPC, which there is none of',
      { set: ['container.grpcPort=9000'] },
      /\/container\/grpcPort.*got number, want null/s,
    ],
    ['a broker without sense', { set: ['kafka.brokers={kafka 0:9092}'] }, /\/kafka\/brokers\/0.*does not match/s],
    ['no broker at all', { set: ['config.kafka.brokers=null'] }, /kafka\.brokers: name at least one/],
    [
      'a password in a ConfigMap',
      { set: ['config.database.password=x'] },
      /config\.database\.password would stand in a ConfigMap/,
    ],
    [
      'a password of Kafka in a ConfigMap',
      { set: ['config.kafka.sasl.password=x'] },
      /config\.kafka\.sasl\.password would/,
    ],
    [
      'a grace period shorter than the drain',
      { set: ['config.app.shutdown_timeout=1m30s'] },
      /is 30, but its drain may take 91 s/,
    ],
    ['Vault without a role', { set: ['vault.enabled=true'] }, /vault\.role: name the Vault role/],
    [
      'secrets of a Vault that is not enabled',
      { files: [valueFile('specification')], set: ['vault.enabled=false'] },
      /vault\.enabled is false/,
    ],
    [
      'one secret from two places',
      { files: [valueFile('specification')], set: ['database.existingSecret=x'] },
      /database\.password comes from vault\.secrets and from/,
    ],
    [
      'a Vault path that says nothing',
      {
        files: [valueFile('specification')],
        set: ['vault.secrets[0].path=secret/data/x,vault.secrets[0].key=k,vault.secrets[0].mountPath=/a/b'],
      },
      /say which setting it is/,
    ],
    ['KEDA that cannot log in', { set: ['retrier.keda.enabled=true'] }, /retrier\.keda: KEDA has to ask PostgreSQL/],
    ['an ingress for no host', { set: ['ingress.enabled=true'] }, /ingress\.hosts: name at least one/],
  ])('%s is refused with words that help', (_, values, words) => {
    expect(refusal(values)).toMatch(words)
  })
})
