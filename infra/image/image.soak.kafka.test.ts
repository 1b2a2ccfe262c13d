// Builds the image's content by the Dockerfile's script into an empty root. A fleet runs from there under load, as a
// user without any rights, in a tree that is read-only. Needs root, to give up all rights.
import { execFile } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eventually } from 'dlq-testing/eventually.ts'
import { type ServiceName, serviceNames } from 'dlq-testing/fleet/service-process.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { freePort } from 'dlq-testing/process/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const here = fileURLToPath(new URL('.', import.meta.url))
const loadMs = Number(process.env.DLQ_IMAGE_LOAD_SECONDS ?? 300) * 1000
const perSecond = 300
const uid = 65_532
const root = mkdtempSync(join(tmpdir(), 'dlq-image-'))
const isRoot = process.getuid?.() === 0

const mainOf = (name: ServiceName) => `/app/services/${name}/src/main.ts`
const enter = (...args: string[]) => [join(here, 'enter-root.sh'), root, ...args]

const fleet = useFleet('image', {
  partitions: 4,
  env: { DLQ_RETRY_INITIAL_DELAY: '1s' },
  command: (name) => ['unshare', '--mount', ...enter(mainOf(name))],
})

beforeAll(async () => {
  if (!isRoot) return
  chmodSync(root, 0o755)
  for (const folder of ['usr/local/bin', 'var/cache', 'tmp', 'proc', 'dev'])
    mkdirSync(join(root, folder), { recursive: true })
  await run(join(here, 'assemble.sh'), [join(root, 'app')])
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
  // The libraries of Debian's slim image that Node and the native codecs need.
  const { stdout: codecs } = await run('find', [join(root, 'app'), '-name', '*.node'])
  const { stdout } = await run('ldd', [process.execPath, ...codecs.trim().split('\n')])
  for (const [library = ''] of stdout.matchAll(/\/\S+\.so[^\s:]*/g)) {
    mkdirSync(dirname(join(root, library)), { recursive: true })
    copyFileSync(library, join(root, library))
  }
  const cache = join(root, 'var/cache/dlq-manager')
  await run('install', ['-d', '-o', `${uid}`, '-g', `${uid}`, cache])
  const env = {
    HOME: '/',
    DATABASE_URL: 'postgres://none',
    KAFKA_BROKERS: 'none:9092',
    NODE_COMPILE_CACHE: '/var/cache/dlq-manager',
  }
  for (const name of serviceNames)
    await run(
      '/usr/sbin/chroot',
      [`--userspec=${uid}:${uid}`, root, '/usr/local/bin/node', mainOf(name), '--check-config'],
      {
        env,
      },
    )
  expect(readdirSync(cache)).not.toEqual([])
}, 600_000)

afterAll(() => rmSync(root, { recursive: true, force: true }))

const status = (pid: number, field: string) =>
  new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''

/** Seconds of CPU so far (proc(5): fields 14 and 15, in hundredths). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

describe.runIf(isRoot)('the image’s content', () => {
  test('is as large as its README says, and holds no tests and no development tools', async () => {
    const { stdout } = await run('du', ['-sm', join(root, 'app')])
    expect(Number.parseInt(stdout, 10)).toBeLessThan(60)
    const { stdout: found } = await run('find', [
      join(root, 'app'),
      '-name',
      '*.test.ts',
      '-not',
      '-path',
      '*/node_modules/*',
    ])
    expect(found).toBe('')
    expect(
      readdirSync(join(root, 'app/node_modules/.pnpm')).filter((name) => /^(vitest|typescript|node)@/.test(name)),
    ).toEqual([])
    expect(readdirSync(join(root, 'app/packages/console'))).toEqual(['dist'])
    expect(readdirSync(join(root, 'app/packages/console/dist'))).toContain('index.html')
    const bill = JSON.parse(readFileSync(join(root, 'app/sbom.cdx.json'), 'utf8'))
    expect(bill.components.map(({ name }: { name: string }) => name)).toContain('kafkajs')
    expect(statSync(join(root, 'app/sbom.cdx.json')).uid).toBe(0)
  })

  test('as process 1 answers its health check, and ends in order after SIGTERM', async () => {
    const env = { PATH: process.env.PATH, DLQ_SERVER_PORT: String(await freePort()) }
    const child = execFile('unshare', ['--mount', '--pid', '--fork', '--kill-child', ...enter(mainOf('api'))], {
      env: { ...env, DATABASE_URL: fleet.database.url },
    })
    const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
    const inner = await eventually(() => {
      const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('main.ts')
      return pid
    })
    const health = ['-t', `${inner}`, '--mount', '--pid', '--root', '-S', `${uid}`, '-G', `${uid}`, '--']
    await eventually(() =>
      run('nsenter', [...health, '/usr/local/bin/node', '/app/infra/image/healthcheck.ts'], { env }),
    )
    await expect(
      run('nsenter', [...health, '/usr/local/bin/node', '/app/infra/image/healthcheck.ts'], {
        env: { ...env, DLQ_SERVER_PORT: '1' },
      }),
    ).rejects.toThrow()
    process.kill(inner, 'SIGTERM')
    expect(await exited).toBe(0)
  })

  test('runs a fleet under load without any rights and without writing to the tree', {
    timeout: loadMs + 600_000,
  }, async () => {
    await fleet.services.startAll()
    const services = serviceNames.map((name) => fleet.services.get(name))
    for (const { pid } of services) {
      expect(status(pid, 'Uid').split(/\s+/)).toEqual(Array(4).fill(`${uid}`))
      expect(status(pid, 'CapEff')).toBe('0000000000000000')
      expect(readFileSync(`/proc/${pid}/mountinfo`, 'utf8')).toMatch(/ \/ ro[, ]/)
    }
    const since = performance.now()
    const cpuBefore = services.map(({ pid }) => cpuSeconds(pid))
    let [produced, answered] = [0, 0]
    const failed: string[] = []
    const isOver = () => performance.now() - since > loadMs
    const ask = async (path: string) => {
      while (!isOver()) {
        const answer = await fleet.services.request(path).catch(({ message }) => ({ status: 0, text: message }))
        if (answer.status === 200) answered += 1
        else failed.push(`${path}: ${answer.status} ${answer.text}`)
        await sleep(20)
      }
    }
    const produce = async () => {
      while (!isOver()) {
        const due = Math.floor(((performance.now() - since) / 1000) * perSecond) - produced
        const messages = Array.from({ length: Math.min(due, 500) }, (_, i) => ({
          key: `${produced + i}`,
          value: JSON.stringify({ n: produced + i, text: 'x'.repeat(900) }),
          headers: { 'dlq-original-topic': fleet.original, 'dlq-error-message': `failure ${i % 7}` },
        }))
        if (messages.length > 0) await fleet.producer.send({ topic: fleet.dlq, messages })
        produced += messages.length
        await sleep(100)
      }
    }
    await Promise.all([
      produce(),
      ask(`/api/v1/dlq/${fleet.dlq}`),
      ask('/api/v1/messages?limit=50'),
      ask('/api/v1/topics'),
    ])
    await eventually(async () => {
      const [row] = await fleet.database
        .sql`select count(*)::int as count from dlq.dlq_messages where status = 'RESOLVED'`
      expect(row!.count).toBe(produced)
    })
    const seconds = (performance.now() - since) / 1000
    for (const [at, { name, pid }] of services.entries()) {
      const cpu = (100 * (cpuSeconds(pid) - cpuBefore[at]!)) / seconds
      console.log(
        `${name}: at most ${Math.round(Number.parseInt(status(pid, 'VmHWM'), 10) / 1024)} MiB, ${cpu.toFixed(1)} % of a core`,
      )
    }
    console.log(`${produced} dead letters in ${Math.round(seconds)} s, ${answered} requests`)
    expect(failed).toEqual([])
    const records = await readTopic(fleet.topics.kafka, {
      topic: fleet.original,
      groupId: fleet.topics.groupName('reader'),
    })
    expect(new Set(records.map(({ key }) => String(key))).size).toBe(produced)
    expect(records).toHaveLength(produced)
  })
})
