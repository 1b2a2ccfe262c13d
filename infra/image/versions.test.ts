// What the Dockerfile and the compose file say a second time stays the same.
import { readFileSync } from 'node:fs'
import { loadConfig } from 'dlq-core/runtime/config.ts'
import { kafkaVersion } from 'dlq-testing/kafka-settings.ts'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const compose = parse(read('../compose.yaml'), { merge: true })

test('the image has the Node that everything is tested with', () => {
  expect(read('Dockerfile')).toContain(`NODE_IMAGE=node:${process.versions.node}-bookworm-slim\n`)
})

test('the compose file has the Kafka that everything is tested with', () => {
  expect(compose.services.kafka.image).toBe(`apache/kafka:${kafkaVersion}`)
})

test('the configuration in the compose file has no fault for any service', () => {
  const { warnings, config } = loadConfig({
    env: { DLQ_SERVER_HOST: compose.services.api.environment.DLQ_SERVER_HOST },
    yaml: compose.configs.config.content,
    needs: ['database', 'kafka', 'auth-beyond-loopback'],
    readSecret: (path) => {
      expect(path).toBe(compose['x-service'].configs[1].target)
      return compose.configs.database_password.content
    },
  })
  expect(warnings).toEqual([])
  expect(config.database.password).toBe('development')
})

test('every service of ours runs without rights, on a tree that it cannot write to', () => {
  for (const name of ['ingester', 'retrier', 'api', 'migrations'])
    expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
})
