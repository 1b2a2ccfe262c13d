// The image's HEALTHCHECK: exit code 0 if the container's service answers /healthz. The service is process 1; this
// finds its port as the service does.

import { readFileSync } from 'node:fs'
import { configPath, readConfig } from 'dlq-core/runtime/config/config-files.ts'
import { httpUrl } from 'dlq-core/runtime/outgoing/http-url.ts'

const defaultPorts: Record<string, number> = { api: 8080, ingester: 8081, retrier: 8082 }

const command = readFileSync('/proc/1/cmdline', 'utf8').split('\0')
const service = command.join(' ').match(/services\/(\w+)\/src\/main\.ts/)?.[1] ?? 'api'
const named = command.join('=').match(/--config=([^=]+)/)?.[1]
const { server } = readConfig(configPath(named, process.env), { env: process.env, needs: [] }).config
const host = /^(0\.0\.0\.0|::)$/.test(server.host) ? '127.0.0.1' : server.host

const url = httpUrl(host, server.port ?? defaultPorts[service]!)
const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(4000) })
process.exit(answer.ok ? 0 : 1)
