// What runs: migrations, jobs, resources, scaling, monitoring.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  configOf,
  container,
  describeChart,
  envOf,
  find,
  names,
  refusal,
  rendered,
  renderedAgain,
  valueFile,
} from './rendered-chart.ts'
import { root } from './tools.ts'

describeChart('the chart’s workloads', () => {
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

  test('a change of the configuration changes the pods, another generated token does not', () => {
    const checksum = (set: string[]) =>
      find(rendered('defaults', set), 'Deployment', 'dlq-manager').spec.template.metadata.annotations['checksum/config']
    const again = find(renderedAgain(), 'Deployment', 'dlq-manager').spec.template.metadata.annotations
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
})
