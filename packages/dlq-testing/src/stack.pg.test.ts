// The stack's own work (reports, restarts, foreign servers) on PostgreSQL, which starts fastest.
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { withMaintenance } from './postgres/maintenance.ts'
import './provided.ts'
import { createReaper } from './process/reaper.ts'
import type { ProcessExit } from './process/watched-process.ts'
import { startStack } from './stack.ts'

const reaper = createReaper()

afterAll(() => reaper.close())

const newFolder = () => mkdtempSync(join(tmpdir(), 'dlq-stack-'))

test('a server that dies is reported once, and a restart brings it back at its former address', async () => {
  const dataDir = newFolder()
  const stack = await startStack({ dataDir, reaper, withoutKafka: true })
  const server = stack.postgres!
  const exits: ProcessExit[] = []
  const died = new Promise<void>((resolve) => {
    server.onExit((exit) => {
      exits.push(exit)
      resolve()
    })
  })
  await withMaintenance(stack.databaseUrl, (sql) => sql`create table kept as select 1 as one`)
  const firstPid = server.pid

  process.kill(firstPid, 'SIGKILL')
  await died
  await server.restart()

  expect(server.pid).not.toBe(firstPid)
  expect([...(await withMaintenance(stack.databaseUrl, (sql) => sql`select one from kept`))]).toEqual([{ one: 1 }])
  // This stop was requested, so it is not reported.
  await server.restart()
  await stack.stop({ discard: true })
  expect(exits).toEqual([{ code: null, signal: 'SIGKILL' }])
  expect(existsSync(dataDir)).toBe(false)
})

test('servers named by the caller are used as they are, and none is started', async () => {
  const { databaseUrl } = inject('testStack')
  const dataDir = newFolder()

  const stack = await startStack({ dataDir, reaper, databaseUrl, kafkaBrokers: 'one:9092, two:9092' })

  expect(stack).toMatchObject({ databaseUrl, kafkaBrokers: ['one:9092', 'two:9092'] })
  expect([stack.postgres, stack.kafka]).toEqual([undefined, undefined])
  await stack.stop({ discard: true })
})
