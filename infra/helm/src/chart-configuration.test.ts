// The configuration that the chart renders is one that the services accept.

import { loadConfig, type Need } from 'dlq-core/runtime/config/config.ts'
import { expect, test } from 'vitest'
import { configOf, container, describeChart, envOf, find, names, rendered, valueSets } from './rendered-chart.ts'

/** They are read at once, and there are none here. */
function withoutCertificates(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^DLQ_(KAFKA_TLS|DATABASE_SSL)_/.test(name)))
}

/** As the mains have it. */
const needs: Record<string, Need[]> = {
  api: ['database', 'auth-beyond-loopback'],
  ingester: ['database', 'kafka'],
  retrier: ['database', 'kafka-if-set'],
}

describeChart('the chart’s configuration', () => {
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
      expect(config.server).toMatchObject({ host: '::', port: 8080 })
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
})
