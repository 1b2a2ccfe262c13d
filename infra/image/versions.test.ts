// Versions and settings that the Dockerfile and the compose file repeat stay the same.
import { readdirSync, readFileSync } from 'node:fs'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { defaultKafkaVersion } from 'dlq-testing/kafka/kafka-settings.ts'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const compose = parse(read('../compose.yaml'), { merge: true })

test('the image has the version of Node that the tests use', () => {
  expect(read('Dockerfile')).toContain(`NODE_IMAGE=node:${process.versions.node}-bookworm-slim\n`)
})

test('the workflows name every action by its commit, and say which version that is', () => {
  const workflows = readdirSync(new URL('../../.github/workflows', import.meta.url))
  const lines = workflows.flatMap((name) => read(`../../.github/workflows/${name}`).match(/^.*\buses:.*$/gm) ?? [])
  expect(lines.length).toBeGreaterThan(20)
  expect(lines.filter((line) => !/uses: [\w.-]+\/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
})

test('everything is built with one exact version of pnpm', () => {
  const { version } = JSON.parse(read('../../package.json')).devEngines.packageManager
  expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  const named = ['../../package.json', 'assemble.sh', '../dev/src/test.ts'].flatMap((file) => [
    ...read(file).matchAll(/pnpm@([\w.]+)/g),
  ])
  expect(new Set(named.map(([, used]) => used))).toEqual(new Set([version]))
})

test('a release is built on the base image’s digest of that day', () => {
  const { steps } = parse(read('../../.github/workflows/release.yaml')).jobs.image
  const build = steps.find(({ id }: { id?: string }) => id === 'build')
  expect(build.with['build-args']).toMatch(/^NODE_IMAGE=\$\{\{ steps\.base\.outputs\.image \}\}$/)
  expect(steps.find(({ id }: { id?: string }) => id === 'base').run).toContain('@$digest')
})

test('the compose file has the version of Kafka that the tests use', () => {
  expect(compose.services.kafka.image).toBe(`apache/kafka:${defaultKafkaVersion}`)
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

test('each of our services runs without capabilities, on a read-only file system', () => {
  for (const name of ['ingester', 'retrier', 'api', 'migrations'])
    expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
})
