import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, expect, test } from 'vitest'
import { takeRunnerLock } from './runner-lock.ts'

const dir = mkdtempSync(`${tmpdir()}/runner-lock-`)
afterAll(() => rmSync(dir, { recursive: true }))

test('a lock that was released can be taken again', () => {
  const lock = takeRunnerLock(`${dir}/released/pid`)
  if ('heldBy' in lock) throw new Error('nobody holds it')
  lock.release()
  expect(takeRunnerLock(`${dir}/released/pid`)).toHaveProperty('release')
})

test('a lock left behind by a process that is gone is taken over', () => {
  // Above the greatest process id that Linux gives.
  writeFileSync(`${dir}/stale`, '4194305')
  expect(takeRunnerLock(`${dir}/stale`)).toHaveProperty('release')
})

test('a process id that now belongs to another program does not hold the lock', () => {
  writeFileSync(`${dir}/stranger`, '1')
  expect(takeRunnerLock(`${dir}/stranger`)).toHaveProperty('release')
})
