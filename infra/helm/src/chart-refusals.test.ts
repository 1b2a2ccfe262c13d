// Values that the chart refuses.

import { expect, test } from 'vitest'
import type { Values } from './render.ts'
import { describeChart, refusal, valueFile } from './rendered-chart.ts'

describeChart('a release with wrong values', () => {
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
    ['a broker without its port', { set: ['kafka.brokers={kafka-0}'] }, /\/kafka\/brokers\/0.*does not match/s],
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
